import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15551410001'
const [writer, hidden, reader, stranger] = ['15551410011', '15551410012', '15551410013', '15551410014']

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
}, 60_000)
afterAll(() => system?.close(), 30_000)

const write = (from: string, to: string) => gateway.control(`/chats/${from}/send`, { to, text: 'hello' })

async function statusOf(messageId: string): Promise<string> {
  return (await gateway.messageStatus(messageId)).status
}

it('during a time-lock, those who wrote to the phone before the link are written to, and others wait', async () => {
  await write(writer, sender)
  await write(hidden, sender)
  await write(sender, hidden)
  await write(sender, reader)
  await gateway.link(sender)
  await until('the chats of the history are stored', async () => {
    const rows = await system.database.$client`SELECT FROM device_auth JOIN devices ON devices.id = device_id
      WHERE type = 'history-chat' AND devices.sender = ${sender}`
    return rows.length === 2
  })
  await gateway.control(`/chats/${sender}/time-lock`, { seconds: 3600 })
  await until('the sender is restricted', async () => (await gateway.statusOf(sender)).restriction_reason)

  const waiting = [await gateway.send(sender, stranger), await gateway.send(sender, reader)]
  await gateway.deliver(sender, writer)
  await gateway.deliver(sender, hidden)
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
  await gateway.deliver(sender, writer)
  expect(await Promise.all(waiting.map(statusOf))).toEqual(['queued', 'queued'])
}, 60_000)
