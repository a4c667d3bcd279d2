import { randomBytes } from 'node:crypto'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15551480001'
const [contact, recipient] = ['15551480011', '15551480012']

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

type Phones = { number: string; companions: { pending: number; logins: number }[] }[]

async function companionOf(number: string) {
  const phones = await gateway.control<Phones>('/phones')
  return phones.find((phone) => phone.number === number)?.companions[0]
}

const allAcknowledged = () =>
  until('all is acknowledged', async () => (await companionOf(sender))?.pending === 0)

const kinds = [
  ...['blocklist', 'disappearing_mode', 'picture', 'about', 'business', 'group_subject', 'group_add'],
  ...['newsletter', 'username', 'media_retry', 'call', 'unknown'],
]

it('acknowledges whatever WhatsApp tells it, asks nothing unknown, and keeps sending', async () => {
  await allAcknowledged()
  const loginsBefore = (await companionOf(sender))?.logins
  for (const kind of kinds) {
    const answer = await gateway.control(`/chats/${sender}/notice`, { kind, about: contact })
    expect(answer).toEqual({ ok: true })
  }
  await gateway.deliver(sender, recipient)
  await allAcknowledged()
  await gateway.deliver(sender, recipient)
  expect((await companionOf(sender))?.logins).toBe(loginsBefore)
  expect(await gateway.control('/stats')).toMatchObject({ unknown: {} })
  expect(await gateway.statusOf(sender)).toMatchObject({ status: 'connected' })
}, 60_000)

it('acknowledges them also when they waited for its login', async () => {
  await system.devnet.stop('worker-1')
  for (const kind of kinds) await gateway.control(`/chats/${sender}/notice`, { kind, about: contact })
  expect((await companionOf(sender))?.pending).toBe(kinds.length)
  await system.devnet.start('worker-1')
  await allAcknowledged()
  await gateway.deliver(sender, recipient)
}, 60_000)

it('stores a received file with its caption and type, also when the file has expired', async () => {
  const files = [
    ['image/jpeg', 'image', 'a photo'],
    ['application/pdf', 'document', 'a paper'],
    ['audio/ogg', 'audio', null],
  ] as const
  await gateway.control('/faults', { kind: 'media_expire', code: 410 })
  for (const [mime, , caption] of files) {
    const file = randomBytes(2000).toString('base64')
    await gateway.write(contact, sender, { file, mime, text: caption })
  }
  await until('all are stored', async () => {
    const received = (await gateway.history()).filter(({ direction }) => direction === 'in')
    return received.length === files.length
  })
  const received = (await gateway.history()).filter(({ direction }) => direction === 'in').reverse()
  expect(received.map(({ type, caption }) => [type, caption])).toEqual(
    files.map(([, type, caption]) => [type, caption]),
  )
  await allAcknowledged()
}, 30_000)
