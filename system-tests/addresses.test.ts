import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

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

describe('a contact that gets a LID while it is written to', () => {
  const contact = '15551300041'
  const texts = Array.from({ length: 30 }, (_, index) => `text ${index}`)

  async function sessions(): Promise<string[]> {
    const rows = await system.database.$client<{ id: string }[]>`
      SELECT device_auth.id FROM device_auth JOIN devices ON devices.id = device_id
      WHERE sender = ${sender} AND type = 'session'`
    return rows.map(({ id }) => id)
  }

  it('reads every message once, and so does the sender', async () => {
    await gateway.control('/faults', { kind: 'lid_omit', sender, number: contact })
    await writeFrom(contact, 'pn_only')
    expect(await receive(contact, 'from a number alone')).toMatchObject({ number: contact, lid: null })
    await send(contact)
    const lid = await lidOf(contact)
    expect(await sessions()).toContain(`${contact}.0`)
    expect(await sessions()).not.toContain(`${lid}_1.0`)

    const sending = texts.map((message) => gateway.send(sender, contact, message))
    await system.phones.clearFaults()
    await writeFrom(contact, 'lid')
    const answers = ['first answer', 'second answer', 'third answer']
    for (const answer of answers) {
      expect(await receive(contact, answer)).toMatchObject({ number: contact, lid })
    }
    for (const messageId of await Promise.all(sending)) await gateway.untilStatus(messageId, 'delivered')
    const read = (await gateway.phone(contact, sender)).map(({ text }) => text)
    expect(read.toSorted()).toEqual(['hello', ...texts].toSorted())
    expect(await sessions()).toContain(`${lid}_1.0`)
    expect(await sessions()).not.toContain(`${contact}.0`)
  })

  it('is written to under its LID by the next owner', async () => {
    await system.devnet.stop('worker-1')
    await system.devnet.start('worker-1')
    await send(contact)
    const log = await (await fetch(`${system.devnet.simulator?.controlUrl}/log`)).text()
    const entries = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const last = entries.findLast((entry) => entry.sender === sender)
    expect(last).toMatchObject({ recipient: contact, ack: 'ok' })
    expect(await sessions()).not.toContain(`${contact}.0`)
  })
})

it('writes to the account that WhatsApp names for another form of a number', async () => {
  const [dialled, known] = ['5511987654321', '551187654321']
  await gateway.control('/faults', { kind: 'lookup_correct', number: dialled })
  await send(dialled)
  await send(known)
  expect(await gateway.phone(known, sender)).toHaveLength(2)
  expect(await gateway.phone(dialled, sender)).toHaveLength(0)
})
