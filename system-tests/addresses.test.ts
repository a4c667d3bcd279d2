import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15551300001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

const writeFrom = (contact: string, code: string) =>
  gateway.control('/faults', { kind: 'addressing', code, sender, number: contact })

async function receive(contact: string, text: string) {
  await gateway.control(`/chats/${contact}/send`, { to: sender, text })
  return until(`"${text}" is stored`, async () => {
    const received = await gateway.history(`?sender=${sender}`)
    return received.find(({ direction, message }) => direction === 'in' && message === text)
  })
}

async function lidOf(number: string): Promise<string> {
  const phones = await gateway.control<{ number: string; lid: string }[]>('/phones')
  return phones.find((one) => one.number === number)?.lid.split('@')[0] ?? ''
}

async function send(number: string): Promise<void> {
  const { body } = await gateway.call('send-message', { sender, number, message: 'hello' })
  await gateway.untilStatus(String(body.message_id), 'delivered')
}

it('shows the number and the LID of a contact that writes from either', async () => {
  for (const [contact, code] of [
    ['15551300011', 'pn'],
    ['15551300012', 'lid'],
  ] as const) {
    await writeFrom(contact, code)
    const message = await receive(contact, `from the ${code}`)
    expect(message).toMatchObject({ number: contact, lid: await lidOf(contact) })
  }
})

it('shows no number of a contact that hides it, and never its LID in its place', async () => {
  const contact = '15551300021'
  await writeFrom(contact, 'lid_only')
  expect(await receive(contact, 'from a hidden number')).toMatchObject({
    number: null,
    lid: await lidOf(contact),
  })
})

it('knows the number of a hidden contact that the sender has written to', async () => {
  const contact = '15551300031'
  await send(contact)
  await writeFrom(contact, 'lid_only')
  expect(await receive(contact, 'from a known number')).toMatchObject({
    number: contact,
    lid: await lidOf(contact),
  })
  await send(contact)
})

it('writes to the account that WhatsApp names for another form of a number', async () => {
  const [dialled, known] = ['5511987654321', '551187654321']
  await gateway.control('/faults', { kind: 'lookup_correct', number: dialled })
  await send(dialled)
  await send(known)
  expect(await gateway.phone(known, sender)).toHaveLength(2)
  expect(await gateway.phone(dialled, sender)).toHaveLength(0)
})
