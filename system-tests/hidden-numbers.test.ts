import type { EventObject } from '@wagate/shared/objects/event-object'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15552078001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: { OPT_OUT_WORDS: 'stop', NEW_CONTACTS_PER_DAY: '100', NEW_CONTACTS_WARM_UP_DAYS: '0' },
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

/** Returns its LID. */
async function hide(contact: string, username?: string): Promise<string> {
  const { lid } = await gateway.control<{ lid: string }>(`/chats/${contact}/identity`, {
    hidden: true,
    ...(username && { username }),
  })
  return lid.split('@')[0] ?? ''
}

/** The message of the contact, as the history has it. */
async function receive(contact: string, text: string) {
  await gateway.control(`/chats/${contact}/send`, { to: sender, text })
  return until(`"${text}" is stored`, async () => {
    const received = await gateway.history(`?sender=${sender}&direction=in`)
    return received.find(({ message }) => message === text)
  })
}

/** WhatsApp tells the number with the next message of the contact. */
async function reveal(contact: string, text: string) {
  await gateway.control(`/chats/${contact}/identity`, { hidden: false })
  await gateway.control('/faults', { kind: 'addressing', code: 'lid', sender, number: contact })
  return receive(contact, text)
}

async function send(to: Record<string, string>, message = 'x') {
  const { status, body } = await gateway.call('send-message', { sender, message, ...to })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}

const textsOf = async (contact: string) => (await gateway.phone(contact, sender)).map(({ text }) => text)

it('answers a contact that shows only its LID and a user name', async () => {
  const contact = '15552078011'
  const lid = await hide(contact, 'ann.b')
  const named = { number: null, lid, username: 'ann.b' }
  const received = await receive(contact, 'hello from nobody')
  expect(received).toMatchObject(named)

  const byLid = await send({ lid }, 'by the LID')
  expect(byLid).toMatchObject(named)
  const answer = await send({ reply_to: received.message_id }, 'as an answer')
  expect(answer).toMatchObject(named)
  for (const { message_id } of [byLid, answer]) {
    expect(await gateway.untilStatus(String(message_id), 'delivered')).toMatchObject(named)
  }
  expect(await textsOf(contact)).toEqual(['by the LID', 'as an answer'])
  const { events } = (await gateway.get('events?types=message.delivered,message.received')).body
  expect((events as EventObject[]).map(({ data }) => data.message)).toMatchObject([named, named, named])
  const found = await gateway.history(`?lid=${lid}`)
  expect(found.map(({ message }) => message)).toEqual(['as an answer', 'by the LID', 'hello from nobody'])
  expect(await gateway.call('check-number', { sender, lid })).toMatchObject({
    status: 409,
    body: { code: 'number_unknown' },
  })
})

it('sends in order when the number is learnt while messages to both are waiting', async () => {
  const contact = '15552078021'
  const lid = await hide(contact)
  await receive(contact, 'hidden')
  await gateway.control('/faults', { kind: 'ack_delay', ms: 400, sender, number: contact })
  const texts = Array.from({ length: 12 }, (_, index) => `text ${index}`)
  const ids: string[] = []
  for (const text of texts.slice(0, 4)) ids.push(String((await send({ lid }, text)).message_id))
  expect(await reveal(contact, 'here is my number')).toMatchObject({ number: contact, lid })
  for (const [index, text] of texts.slice(4).entries()) {
    const { message_id, ...shown } = await send(index % 2 === 0 ? { number: contact } : { lid }, text)
    expect(shown).toMatchObject({ number: contact, lid })
    ids.push(String(message_id))
  }
  for (const id of ids)
    expect(await gateway.untilStatus(id, 'delivered')).toMatchObject({ number: contact, lid })
  expect(await textsOf(contact)).toEqual(texts)
  const found = await gateway.history(`?number=${contact}&direction=out`)
  expect(found.map(({ message }) => message)).toEqual([...texts].reverse())
})

it('a contact that has opted out by its LID is not written to at its number either', async () => {
  const contact = '15552078031'
  const lid = await hide(contact)
  await receive(contact, 'stop')
  const refused = await gateway.untilStatus(String((await send({ lid })).message_id), 'failed')
  expect(refused).toMatchObject({ error_code: 'opted_out', lid })
  expect((await gateway.get('opt-outs')).body.opt_outs).toMatchObject([{ number: null, lid }])
  await reveal(contact, 'this is me')
  const { message_id } = await send({ number: contact })
  expect(await gateway.untilStatus(String(message_id), 'failed')).toMatchObject({ error_code: 'opted_out' })
  expect((await gateway.call('opt-in', { lid })).body).toMatchObject({ was_opted_out: true, number: contact })
  await gateway.deliver(sender, contact, 'welcome back')
})

it('counts a hidden person once, also when a restart comes between', async () => {
  const contact = '15552078041'
  const lid = await hide(contact)
  await send({ lid }, 'before')
  await until('it has arrived', async () => (await textsOf(contact)).length === 1)
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
  expect(await reveal(contact, 'after the restart')).toMatchObject({ number: contact, lid })
  await gateway.deliver(sender, contact, 'by the number')
  const rows = await system.database.$client`
    SELECT number FROM new_contacts JOIN devices ON devices.id = device_id
    WHERE sender = ${sender} AND number IN (${contact}, ${`${lid}@lid`})`
  expect(rows).toEqual([{ number: contact }])
})
