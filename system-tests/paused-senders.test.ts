import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

const sender = '15552099001'
const other = '15552099002'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ environment: shortLease })
  gateway = system.gateway
  await Promise.all([gateway.link(sender), gateway.link(other)])
}, 60_000)
afterAll(() => system?.close(), 30_000)

const pause = (given = {}) => gateway.call('pause-sender', { sender, ...given })
const read = async (id: string) => (await gateway.call('message-status', { message_id: id })).body

test('a paused sender sends nothing, whoever owns it, until it is resumed, and others go on', async () => {
  await gateway.deliver(sender, '15552099101')
  await pause()
  const id = await gateway.send(sender, '15552099101')
  await gateway.deliver(other, '15552099101')
  expect(await read(id)).toMatchObject({ status: 'queued', waiting_for: 'paused' })

  const owner = await system.ownerOf(sender)
  system.devnet.signal(owner, 'SIGKILL')
  await until('another worker owns the sender', async () => (await system.ownerOf(sender)) !== owner)
  await until('the sender is back', async () => {
    const { body } = await gateway.call('info-device', { sender })
    return body.status === 'connected'
  })
  await gateway.deliver(other, '15552099102')
  expect(await read(id)).toMatchObject({ status: 'queued', waiting_for: 'paused' })

  await gateway.call('resume-sender', { sender })
  await gateway.untilStatus(id, 'delivered')
})

test('a pause ends by itself', async () => {
  const end = new Date(Date.now() + 3000).toISOString()
  await pause({ until: end })
  const id = await gateway.send(sender, '15552099103')
  const { sent_at } = await gateway.untilStatus(id, 'delivered')
  expect(String(sent_at) >= end).toBe(true)
})
