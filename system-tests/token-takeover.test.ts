import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withClockAhead } from './clock-ahead.ts'

const sender = '15551510001'
const [giver, strict, given, next] = ['15551510011', '15551510012', '15551510013', '15551510014']
/** In which WhatsApp expects one token for each contact. */
const bucketMs = 7 * 86_400_000

let system: TestSystem
let gateway: GatewayClient
let aheadMs = 0

beforeAll(async () => {
  system = await openTestSystem({
    workers: 2,
    environment: withClockAhead(() => aheadMs),
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

const tokensOf = (number: string) =>
  gateway.control<{ from: string; issued_at: number }[]>(`/chats/${number}/tokens`)
const untilGiven = (number: string, count: number) =>
  until(`${number} has ${count} tokens`, async () => (await tokensOf(number)).length === count)

async function untilStored(type: string): Promise<void> {
  await until(`${type} is stored`, async () => {
    const rows = await system.database.$client`SELECT FROM device_auth WHERE type = ${type}`
    return rows.length > 0
  })
}

/** The proof that a message carried. */
async function proofOf(number: string): Promise<string | null | undefined> {
  const { wa_message_id: id } = await gateway.deliver(sender, number)
  return (await system.phones.log()).find((entry) => entry.wa_message_id === id)?.token
}

it('keeps the tokens of contacts and the secret of the account when another worker takes over', async () => {
  for (const number of [giver, strict]) {
    await gateway.control(`/chats/${number}/privacy`, { first_messages: 'token' })
  }
  await gateway.control(`/chats/${giver}/token`, { to: sender })
  await untilStored('token-holder')
  await untilStored('account-salt')
  await gateway.deliver(sender, given)
  await untilGiven(given, 1)

  const owner = await system.ownerOf(sender)
  system.devnet.signal(owner, 'SIGKILL')
  expect(await proofOf(giver)).toBe('tctoken')
  expect(await proofOf(strict)).toBe('cstoken')
  expect(await system.ownerOf(sender)).not.toBe(owner)
  await gateway.deliver(sender, given)
  // What is given with a message comes after anything that is given with the message before it.
  await gateway.deliver(sender, next)
  await untilGiven(next, 1)
  expect(await tokensOf(given)).toHaveLength(1)
}, 60_000)

it('gives a contact another token when the time of the first one is over', async () => {
  const owner = await system.ownerOf(sender)
  await system.devnet.stop(owner)
  aheadMs = bucketMs
  await system.devnet.start(owner)
  await gateway.deliver(sender, given)
  await untilGiven(given, 2)
  const [first, second] = (await tokensOf(given)).map(({ issued_at: at }) =>
    Math.floor(at / (bucketMs / 1000)),
  )
  expect(second).toBe((first ?? 0) + 1)
}, 60_000)
