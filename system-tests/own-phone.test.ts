import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// What the owner of a sender does on the phone.

type Fields = Record<string, unknown>
type Event = { type: string; data: Fields & { message_id: string; message: Fields } }

const [sender, contact, quietSender] = ['15552934201', '15552934202', '15552096001']
let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

const write = (from: string, to: string, content: Fields) => gateway.write(from, to, content)
const writeOnPhone = (content: Fields) => write(sender, contact, content)
const listEvents = async () => (await gateway.get('events')).body.events as Event[]

/** Its counters among other things. */
async function readDevice(): Promise<Fields> {
  const { last_seen_at: _, ...device } = (await gateway.get(`info-device?sender=${sender}`)).body
  return device
}

/** About the message with this id at WhatsApp. */
const untilEvent = (wanted: string, waId: unknown) =>
  until(wanted, async () =>
    (await listEvents()).find(
      ({ type, data }) => type === wanted && (data.wa_message_id ?? data.message?.wa_message_id) === waId,
    ),
  )

it('a message that was written on the phone is in the history, sent by the phone, and counts for no pace', async () => {
  const before = await readDevice()
  const waId = await writeOnPhone({ text: 'By hand' })
  const event = await untilEvent('message.sent_from_phone', waId)
  expect(event?.data.message).toMatchObject({
    ...{ direction: 'out', source: 'phone', sender, number: contact, type: 'text', message: 'By hand' },
    ...{ sent_at: expect.any(String), written_at: expect.any(String), push_name: null },
  })
  const { body } = await gateway.get(`messages?number=${contact}&direction=out`)
  expect((body.messages as Fields[]).filter(({ wa_message_id }) => wa_message_id === waId)).toHaveLength(1)
  const rows = await system.database.$client`SELECT sent_at FROM messages WHERE wa_id = ${waId}`
  expect(rows).toEqual([{ sent_at: null }])
  expect(await readDevice()).toEqual(before)
  expect(await gateway.phone(contact, sender)).toHaveLength(1)
})

it('a picture that was sent from the phone is kept with its file', async () => {
  const file = Buffer.from('a document of the phone').toString('base64')
  const waId = await writeOnPhone({ file, mime: 'text/plain', text: 'See' })
  const event = await untilEvent('message.sent_from_phone', waId)
  const stored = await until('the file is stored', async () =>
    (await listEvents()).find(
      ({ type, data }) => type === 'media.stored' && data.message_id === event?.data.message_id,
    ),
  )
  expect(stored?.data.message).toMatchObject({ type: 'document', caption: 'See', media: { state: 'stored' } })
})

it('edits and deletions on the phone change messages of the phone and of the gateway', async () => {
  const byHand = await writeOnPhone({ text: 'Frist' })
  const { wa_message_id: byProgram } = await gateway.deliver(sender, contact, 'Secnod')
  for (const [waId, text] of [
    [byHand, 'First'],
    [byProgram, 'Second'],
  ]) {
    await writeOnPhone({ edit: { wa_message_id: waId, text } })
    const edited = await untilEvent('message.edited', waId)
    expect(edited?.data).toMatchObject({ number: contact, from_me: true, by_me: true })
    expect(edited?.data.message).toMatchObject({ message: text, edited_at: expect.any(String) })
    await writeOnPhone({ delete: { wa_message_id: waId } })
    const deleted = await untilEvent('message.deleted', waId)
    expect(deleted?.data.message).toMatchObject({ message: null, deleted_at: expect.any(String) })
  }
})

it('a contact answers and reacts to a message of the phone', async () => {
  const waId = await writeOnPhone({ text: 'When?' })
  const sent = await untilEvent('message.sent_from_phone', waId)
  await write(contact, sender, { reaction: { wa_message_id: waId, emoji: '👍' } })
  const reaction = await untilEvent('message.reaction', waId)
  expect(reaction?.data).toMatchObject({ message_id: sent?.data.message_id, from_me: true })
  const answer = await write(contact, sender, { text: 'At four', reply_to: waId })
  const received = await untilEvent('message.received', answer)
  expect(received?.data.message.reply_to).toMatchObject({
    ...{ message_id: sent?.data.message_id, from_me: true, text: 'When?' },
  })
})

it('what is read on the phone is read', async () => {
  const waId = await write(contact, sender, { text: 'Read me' })
  const received = await untilEvent('message.received', waId)
  expect(received?.data.message.read_at).toBeNull()
  await gateway.control(`/chats/${sender}/read`, { wa_message_id: waId })
  const read = await untilEvent('message.read_on_phone', waId)
  expect(read?.data.message).toMatchObject({ read_at: expect.any(String), direction: 'in' })
})

it('reactions and votes of the owner are events as those of the contact are, by the account', async () => {
  const theirs = await write(contact, sender, { poll: { name: 'Day?', options: ['Mo', 'Tu'] } })
  const received = await untilEvent('message.received', theirs)
  const before = await readDevice()
  await writeOnPhone({ reaction: { wa_message_id: theirs, emoji: '👍' } })
  await writeOnPhone({ vote: { wa_message_id: theirs, options: ['Tu'] } })
  const about = { message_id: received?.data.message_id, number: contact, from_me: false, by_me: true }
  expect((await untilEvent('message.reaction', theirs)).data).toMatchObject({ ...about, reaction: '👍' })
  expect((await untilEvent('message.poll_vote', theirs)).data).toMatchObject({ ...about, options: ['Tu'] })
  expect(await readDevice()).toEqual(before)
  const { wa_message_id: ours } = await gateway.deliver(sender, contact, 'Own')
  await writeOnPhone({ reaction: { wa_message_id: ours, emoji: '' } })
  expect((await untilEvent('message.reaction', ours)).data).toMatchObject({
    ...{ from_me: true, by_me: true, reaction: null },
  })
})

it('a message of the phone is delivered and read, without events of it', async () => {
  const waId = await writeOnPhone({ text: 'Read it' })
  const sent = await untilEvent('message.sent_from_phone', waId)
  const untilStatus = (status: string) => gateway.untilStatus(sent.data.message_id, status)
  expect(await untilStatus('delivered')).toMatchObject({ delivered_at: expect.any(String), read_at: null })
  await gateway.control(`/chats/${contact}/read`, { wa_message_id: waId })
  expect(await untilStatus('read')).toMatchObject({ read_at: expect.any(String) })
  const types = (await listEvents())
    .filter(({ data }) => data.message_id === sent.data.message_id)
    .map(({ type }) => type)
  expect(types).toEqual(['message.sent_from_phone'])
})

it('what happened on the phone while the worker was away has its receipts and is read', async () => {
  await system.devnet.stop('worker-1')
  const texts = Array.from({ length: 5 }, (_, at) => `Meanwhile ${at}`)
  const [written, received]: [string[], string[]] = [[], []]
  for (const text of texts) {
    written.push(await writeOnPhone({ text }))
    received.push(await write(contact, sender, { text }))
  }
  await gateway.control(`/chats/${contact}/read`, { wa_message_id: written[0] })
  for (const wa_message_id of received) await gateway.control(`/chats/${sender}/read`, { wa_message_id })
  await system.devnet.start('worker-1')
  for (const [at, waId] of written.entries()) {
    const sent = await untilEvent('message.sent_from_phone', waId)
    await gateway.untilStatus(sent.data.message_id, at === 0 ? 'read' : 'delivered')
  }
  for (const waId of received) await untilEvent('message.read_on_phone', waId)
})

describe('without PHONE_ACTIVITY', () => {
  let quiet: TestSystem
  beforeAll(async () => {
    quiet = await openTestSystem({ workers: 1, environment: { PHONE_ACTIVITY: 'false' } })
    await quiet.gateway.link(quietSender)
  }, 60_000)
  afterAll(() => quiet?.close(), 30_000)

  const untilReceived = (text: string) =>
    until(`${text} is received`, async () => {
      const found = await quiet.gateway.history()
      return found.some(({ message }) => message === text) && found
    })

  it('what is done on the phone changes and tells nothing, and contacts are heard', async () => {
    const { write, deliver, control } = quiet.gateway
    const received = await write(contact, quietSender, { text: 'Read me' })
    await untilReceived('Read me')
    const edited = await deliver(quietSender, contact, 'Secnod')
    const deleted = await deliver(quietSender, contact, 'Third')
    await control(`/chats/${quietSender}/read`, { wa_message_id: received })
    await write(quietSender, contact, { text: 'By hand' })
    await write(quietSender, contact, { edit: { wa_message_id: edited.wa_message_id, text: 'Second' } })
    await write(quietSender, contact, { delete: { wa_message_id: deleted.wa_message_id } })
    await write(quietSender, contact, { reaction: { wa_message_id: received, emoji: '👍' } })
    await write(quietSender, contact, { as: 'picture', view_once: true })
    await write(contact, quietSender, { text: 'After all of it' })
    const history = await untilReceived('After all of it')
    expect(history.map(({ source, message, read_at }) => [source, message, read_at])).toEqual([
      [null, 'After all of it', null],
      ['gateway', 'Third', null],
      ['gateway', 'Secnod', null],
      [null, 'Read me', null],
    ])
    const events = (await quiet.gateway.get('events')).body.events as Event[]
    const ofPhone = /sent_from_phone|read_on_phone|edited|deleted|reaction/
    expect(events.filter(({ type }) => ofPhone.test(type))).toEqual([])
    expect(events.filter(({ type }) => type === 'message.received')).toHaveLength(2)
  })
})
