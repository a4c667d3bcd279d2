import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type Fields = Record<string, unknown>
type Event = { type: string; data: Fields & { message_id?: string; message?: Fields | null } }

const sender = '15552018001'
const contact = '15552018002'
let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

async function write(content: Fields, from = contact): Promise<string> {
  const answer = await gateway.control<Fields>(`/chats/${from}/send`, { to: sender, ...content })
  expect(answer).toMatchObject({ ok: true })
  return String(answer.wa_message_id)
}

const listEvents = async () => (await gateway.get('events')).body.events as Event[]

/** The newest event of this type, once there are that many. */
function untilEvent(type: string, count = 1): Promise<Event | undefined> {
  return until(`${count} events ${type}`, async () => {
    const found = (await listEvents()).filter((event) => event.type === type)
    return found.length >= count && found.at(-1)
  })
}

const untilReceived = (waId: string) =>
  until('the message is received', async () =>
    (await listEvents()).find(
      ({ type, data }) => type === 'message.received' && data.message?.wa_message_id === waId,
    ),
  )

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nTEL;waid=4917:+49 17\nEND:VCARD'

it.each<[string, Fields, Fields]>([
  [
    'a location',
    { location: { latitude: 52.5, longitude: 13.4, name: 'Office' } },
    {
      type: 'location',
      content: { location: { latitude: 52.5, longitude: 13.4, name: 'Office', is_live: false } },
    },
  ],
  [
    'the beginning of a live location',
    { location: { latitude: 1, longitude: 2, live: true } },
    { type: 'location', content: { location: { latitude: 1, longitude: 2, is_live: true } } },
  ],
  [
    'a contact card',
    { contacts: [{ name: 'Ada', vcard }] },
    {
      type: 'contacts',
      message: 'Ada',
      content: { contacts: [{ name: 'Ada', numbers: ['+49 17'], vcard }] },
    },
  ],
  [
    'a poll',
    { poll: { name: 'Day?', options: ['Mo', 'Tu'] } },
    { type: 'poll', content: { poll: { name: 'Day?', options: ['Mo', 'Tu'], selectable: 1 } } },
  ],
  [
    'a chosen button',
    { content: { buttonsResponseMessage: { selectedButtonId: 'yes', selectedDisplayText: 'Yes' } } },
    { type: 'text', message: 'Yes', content: { choice: { id: 'yes', title: 'Yes' } } },
  ],
  [
    'a one-time code of a business',
    {
      content: {
        interactiveMessage: { body: { text: 'Your code is 123456' }, nativeFlowMessage: { buttons: [] } },
      },
    },
    { type: 'text', message: 'Your code is 123456', content: { kind: 'interactive' } },
  ],
  [
    'a template with a picture',
    {
      content: {
        templateMessage: {
          hydratedTemplate: { imageMessage: { mimetype: 'image/png' }, hydratedContentText: 'On its way' },
        },
      },
    },
    { type: 'image', caption: 'On its way', media: { state: 'unavailable' }, content: { kind: 'template' } },
  ],
  [
    'a sticker',
    { content: { stickerMessage: { mimetype: 'image/webp' } } },
    { type: 'sticker', message: null, content: null },
  ],
])('%s is received with its content', async (_, content, expected) => {
  const event = await untilReceived(await write(content))
  expect(event?.data.message).toMatchObject({ number: contact, ...expected })
})

it('a reply names the message that it quotes, one of the sender or one of the contact', async () => {
  const messageId = await gateway.send(sender, contact, 'Which day?')
  const { wa_message_id: question } = await gateway.untilStatus(messageId, 'delivered')
  const toOurs = await untilReceived(await write({ text: 'Monday', reply_to: question }))
  expect(toOurs?.data.message).toMatchObject({
    message: 'Monday',
    reply_to: {
      wa_message_id: question,
      message_id: messageId,
      from_me: true,
      type: 'text',
      text: 'Which day?',
    },
  })
  const toTheirs = await untilReceived(
    await write({ text: 'or Tuesday', reply_to: String(toOurs?.data.message?.wa_message_id) }),
  )
  expect(toTheirs?.data.message?.reply_to).toMatchObject({
    message_id: toOurs?.data.message_id,
    from_me: false,
    text: 'Monday',
  })
})

it('a message quotes one of the contact or of the sender, and the phone shows what', async () => {
  const received = await untilReceived(await write({ text: 'Price?' }))
  const send = async (reply_to: unknown, content: Fields) => {
    const operation = 'url' in content ? 'send-media' : 'send-message'
    const { status, body } = await gateway.call(operation, { sender, number: contact, reply_to, ...content })
    expect(status).toBe(200)
    return gateway.untilStatus(String(body.message_id), 'delivered')
  }
  const answer = await send(received?.data.message_id, { message: '5 euros' })
  expect(answer).toMatchObject({
    reply_to: { message_id: received?.data.message_id, from_me: false, text: 'Price?' },
  })
  const url = `data:image/png;base64,${onePixel}`
  const picture = await send(answer.wa_message_id, { type: 'image', url })
  const again = await send(picture.wa_message_id, { message: 'this one' })
  const quotedBy = async ({ wa_message_id: id }: { wa_message_id: string }) =>
    (await gateway.phone(contact, sender)).find(({ wa_message_id }) => wa_message_id === id)
  const byContact = { participant: `${contact}@s.whatsapp.net`, text: 'Price?' }
  expect(await quotedBy(answer)).toMatchObject({ quoted: byContact })
  const own = { participant: `${sender}@s.whatsapp.net` }
  expect(await quotedBy(picture)).toMatchObject({ type: 'image', quoted: { ...own, text: '5 euros' } })
  expect(await quotedBy(again)).toMatchObject({
    quoted: { wa_message_id: picture.wa_message_id, ...own, text: '' },
  })
})

it('a reaction, an edit, a vote and a deletion are events of the message that they are about', async () => {
  const messageId = await gateway.send(sender, contact, 'Done')
  const { wa_message_id: ours } = await gateway.untilStatus(messageId, 'delivered')
  await write({ reaction: { wa_message_id: ours, emoji: '👍' } })
  expect((await untilEvent('message.reaction'))?.data).toMatchObject({
    message_id: messageId,
    number: contact,
    wa_message_id: ours,
    from_me: true,
    reaction: '👍',
  })
  const theirs = await write({ text: 'Thnaks' })
  await write({ edit: { wa_message_id: theirs, text: 'Thanks' } })
  const edited = await untilEvent('message.edited')
  expect(edited?.data).toMatchObject({
    wa_message_id: theirs,
    from_me: false,
    message: { message: 'Thanks', edited_at: expect.any(String), deleted_at: null },
  })
  await write({ vote: { wa_message_id: ours } })
  expect((await untilEvent('message.poll_vote'))?.data).toMatchObject({
    message_id: messageId,
    options: null,
  })
  await write({ delete: { wa_message_id: theirs } })
  expect((await untilEvent('message.deleted'))?.data).toMatchObject({
    message_id: edited?.data.message_id,
    message: { message: null, deleted_at: expect.any(String) },
  })
})

it('a vote says which options were chosen, in a poll of the contact and in one of the own phone', async () => {
  const poll = { poll: { name: 'Day?', options: ['Mo', 'Tu', 'We'] } }
  const theirs = await write(poll)
  const { wa_message_id: ours } = await gateway.control<Fields>(`/chats/${sender}/send`, {
    to: contact,
    ...poll,
  })
  const chosenAfter = async (wa_message_id: unknown, options: string[]) => {
    const before = (await listEvents()).filter(({ type }) => type === 'message.poll_vote').length
    await write({ vote: { wa_message_id, options } })
    const event = await untilEvent('message.poll_vote', before + 1)
    return [event?.data.wa_message_id, event?.data.options]
  }
  expect(await chosenAfter(theirs, ['Tu'])).toEqual([theirs, ['Tu']])
  expect(await chosenAfter(ours, ['We', 'Mo'])).toEqual([ours, ['Mo', 'We']])
  expect(await chosenAfter(ours, [])).toEqual([ours, []])
  expect(await chosenAfter(ours, ['Su'])).toEqual([ours, null])
})

it('the container of an album is no message', async () => {
  const before = (await listEvents()).length
  await write({ content: { albumMessage: { expectedImageCount: 2 } } })
  await untilReceived(await write({ text: 'after the album' }))
  expect((await listEvents()).length).toBe(before + 1)
})

it('a stranger cannot delete a message of another chat', async () => {
  const waId = await write({ text: 'stays' })
  await untilReceived(waId)
  const key = { id: waId, fromMe: true, remoteJid: `${contact}@s.whatsapp.net` }
  await write({ content: { protocolMessage: { key, type: 'REVOKE' } } }, '15552018003')
  const forged = await until('the event', async () =>
    (await listEvents()).find(
      ({ type, data }) => type === 'message.deleted' && data.number === '15552018003',
    ),
  )
  expect(forged?.data).toMatchObject({ message_id: null, message: null })
  expect((await untilReceived(waId))?.data.message).toMatchObject({ message: 'stays', deleted_at: null })
})
