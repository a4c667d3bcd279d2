import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, test } from 'vitest'

const sender = '15552098001'
/** It has never had another priority. */
const newcomer = '15552098002'
const pace = { rate_per_minute: 120, burst: 1 }
const numberOf = (index: number) => String(15552098100 + index)

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await Promise.all([sender, newcomer].map((one) => gateway.link(one)))
  for (const one of [sender, newcomer]) await gateway.call('set-device', { sender: one, ...pace })
}, 60_000)
afterAll(() => system?.close(), 30_000)

async function send(index: number, given: Record<string, unknown>): Promise<string> {
  const { body } = await gateway.call('send-message', {
    sender,
    number: numberOf(index),
    message: 'x',
    ...given,
  })
  expect(body).toMatchObject({ ok: true })
  return String(body.message_id)
}

const read = async (id: string) => (await gateway.call('message-status', { message_id: id })).body

test('a one-time code leaves in the next turn of its sender, and what comes too late for its caller never does', async () => {
  const bulk = await Promise.all(Array.from({ length: 60 }, (_, index) => send(index, { priority: 'bulk' })))
  const late = await send(90, { priority: 'bulk', expires_in: 5 })
  await gateway.untilStatus(String(bulk[0]), 'delivered')
  const normal = await send(91, {})
  const code = await send(92, { priority: 'high' })
  const codeSent = await gateway.untilStatus(code, 'delivered')
  const normalSent = await gateway.untilStatus(normal, 'delivered')
  expect(await gateway.untilStatus(late, 'failed')).toMatchObject({
    error_code: 'message_expired',
    sent_at: null,
  })
  const records = await Promise.all(bulk.map(read))
  const leftBefore = (sent: Record<string, unknown>) => {
    const accepted = Date.parse(String(sent.created_at))
    const between = ({ sent_at }: Record<string, unknown>) =>
      sent_at !== null && Date.parse(String(sent_at)) > accepted && String(sent_at) < String(sent.sent_at)
    return records.filter(between).length
  }
  // One may have been on its way already.
  expect(leftBefore(await read(code))).toBeLessThanOrEqual(1)
  expect(leftBefore(await read(normal))).toBeLessThanOrEqual(2)
  expect(String(codeSent.sent_at) < String(normalSent.sent_at)).toBe(true)
  expect(records.filter(({ status }) => status === 'queued').length).toBeGreaterThan(0)
  const { created_at, expires_at } = await read(code)
  expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(900_000)
  expect(await read(normal)).toMatchObject({ priority: 'normal', expires_at: null })
})

test('the first one-time code of a sender does not wait for those that its owner has read ahead', async () => {
  const ids: string[] = []
  for (let index = 0; index < 80; index++) ids.push(await send(200 + index, { sender: newcomer }))
  await gateway.untilStatus(String(ids[0]), 'delivered')
  const code = await send(300, { sender: newcomer, priority: 'high', expires_in: 15 })
  await gateway.untilStatus(code, 'delivered')
  expect((await read(String(ids.at(-1)))).status).toBe('queued')
})
