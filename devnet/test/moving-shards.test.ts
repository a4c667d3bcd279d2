import { afterAll, beforeAll, it } from 'vitest'
import { type Devnet, startDevnet } from '../src/devnet.ts'
import { makeGatewayClient, until } from './gateway-client.ts'

const senders = Array.from({ length: 6 }, (_, index) => `1555080000${index}`)

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>

beforeAll(async () => {
  devnet = await startDevnet({ workers: 1 })
  gateway = makeGatewayClient(devnet)
}, 60_000)

afterAll(() => devnet?.close(), 30_000)

it('links senders while shards move to workers that join, and leaves no connection behind', async () => {
  const linked = Promise.all(senders.map(gateway.link))
  await devnet.start('worker-2')
  await devnet.start('worker-3')
  await linked
  await until('each sender has one connection, and nobody else has any', async () => {
    const stats = await gateway.control<{ connections: Record<string, number>; open: number }>('/stats')
    return stats.open === senders.length && senders.every((sender) => stats.connections[sender] === 1)
  })
}, 60_000)
