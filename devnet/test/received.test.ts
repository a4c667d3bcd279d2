import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../src/devnet.ts'
import { makeGatewayClient, until } from './gateway-client.ts'

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>

beforeAll(async () => {
  devnet = await startDevnet({
    shards: 16,
    workers: 1,
    environment: () => ({ SEND_RATE_PER_MINUTE: '0', LIMIT_REQUESTS_PER_SECOND: '0' }),
  })
  gateway = makeGatewayClient(devnet)
}, 60_000)

afterAll(async () => {
  await devnet?.close()
}, 30_000)

const write = (from: string, to: string, text: string) => gateway.control(`/chats/${from}/send`, { to, text })

/** The texts that the history shows of these contacts, in their order. */
async function receivedFrom(sender: string, contacts: string[]): Promise<(string | null)[]> {
  const received = (await gateway.history(`?sender=${sender}`)).filter(
    ({ number, direction }) => direction === 'in' && contacts.includes(number),
  )
  return contacts.flatMap((contact) =>
    received.filter(({ number }) => number === contact).map(({ message }) => message),
  )
}

it('stores what came while a sender was offline, also beside texts that the database refuses', async () => {
  const sender = '15550600001'
  const contacts = ['15550600011', '15550600012', '15550600013', '15550600014', '15550600015']
  const texts = ['first', 'nul \0 inside', 'third', 'half a pair \ud83d', 'fifth']
  await gateway.link(sender)
  await gateway.control('/faults', { kind: 'drop', sender, ms: 3000 })
  for (const [index, contact] of contacts.entries()) await write(contact, sender, texts[index] ?? '')
  await until('all five are stored', async () => (await receivedFrom(sender, contacts)).length === 5)
  expect(await receivedFrom(sender, contacts)).toEqual([
    'first',
    'nul  inside',
    'third',
    'half a pair \ufffd',
    'fifth',
  ])
})
