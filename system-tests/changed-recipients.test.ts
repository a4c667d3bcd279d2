import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15551200001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

const textsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `text ${String(from + index).padStart(2, '0')}`)

async function send(number: string, texts: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const message of texts) {
    const { body } = await gateway.call('send-message', { sender, number, message })
    ids.push(String(body.message_id))
  }
  return ids
}

const untilShown = (number: string, count: number) =>
  until(`${number} shows ${count} messages`, { withinMs: 60_000, everyMs: 50 }, async () => {
    return (await gateway.phone(number, sender)).length >= count
  })

/** 50 messages, of which half is accepted when ten have arrived and `change` begins. */
async function sendThrough(number: string, change: () => Promise<unknown>): Promise<void> {
  const first = await send(number, textsOf(0, 25))
  await untilShown(number, 10)
  const [rest] = await Promise.all([send(number, textsOf(25, 50)), change()])
  await untilShown(number, 50)
  const shown = (await gateway.phone(number, sender)).map(({ text }) => text)
  expect(shown.sort()).toEqual(textsOf(0, 50))
  for (const id of [...first, ...rest]) await gateway.untilStatus(id, 'delivered')
}

async function untilReceived(by: string, text: string): Promise<void> {
  await until(`${by} has received "${text}"`, { withinMs: 60_000, everyMs: 50 }, async () => {
    const received = await gateway.history(`?sender=${by}`)
    return received.some(({ direction, message }) => direction === 'in' && message === text)
  })
}

it('loses nothing while a recipient links a new device, and writes to that device too', async () => {
  const recipient = '15551200011'
  await sendThrough(recipient, () => gateway.link(recipient))
  await send(recipient, ['to both devices'])
  await untilReceived(recipient, 'to both devices')
}, 180_000)

it('loses nothing while a recipient reinstalls WhatsApp, and still reads what it writes', async () => {
  const recipient = '15551200021'
  await sendThrough(recipient, () => gateway.control(`/chats/${recipient}/reinstall`, {}))
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: 'from the new phone' })
  await untilReceived(sender, 'from the new phone')
}, 180_000)

it('writes to a recipient that removed a device in the meantime', async () => {
  const recipient = '15551200031'
  await gateway.link(recipient)
  await send(recipient, ['to both devices'])
  await untilReceived(recipient, 'to both devices')
  await gateway.control('/unlink', { number: recipient })
  const ids = await send(recipient, ['to the phone alone'])
  for (const id of ids) await gateway.untilStatus(id, 'delivered')
}, 120_000)
