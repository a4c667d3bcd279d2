import { randomUUID } from 'node:crypto'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import type { StoredChange } from '@wagate/shared/objects/message-change'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { type MessageChange, recordMessageChanges } from '../src/queries/messages/message-changes.ts'
import { findMessage } from '../src/queries/messages/message-history.ts'
import {
  insertReceivedMessages,
  isReceived,
  type ReceivedMessage,
} from '../src/queries/messages/received-messages.ts'
import { contact, openReceivingDevice, sender } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openReceivingDevice>>
const stranger = '4915199999999'

beforeAll(async () => {
  owned = await openReceivingDevice()
})
afterAll(() => owned.drop())

const received = (fields?: Partial<ReceivedMessage>) => owned.received(fields)

const change = (fields: Partial<MessageChange> & { target: string }): MessageChange => ({
  fence: owned.device.fence,
  accountId: owned.accountId,
  deviceId: owned.device.deviceId,
  sender,
  waId: randomUUID(),
  number: contact,
  kind: 'reaction',
  fromMe: false,
  text: null,
  ...fields,
})

async function receive(fields: Partial<ReceivedMessage> = {}): Promise<ReceivedMessage> {
  const message = received(fields)
  await insertReceivedMessages(owned.db, [message])
  return message
}

async function send(number = contact): Promise<{ id: string; waId: string }> {
  const id = makeMessageId(sender)
  const message = { id, waId: whatsAppIdOf(id), accountId: owned.accountId, sender, number, body: 'x' }
  const rest = {
    type: 'text' as const,
    url: null,
    filename: null,
    sendAt: null,
    media: null,
    idempotency: null,
  }
  await acceptMessages(owned.db, [{ ...message, ...rest }], { mediaBytesMax: 0 })
  return message
}

/** The newest event, if it is of a change. */
async function lastChange(): Promise<{ type: number; messageId: string | null; data: StoredChange }[]> {
  return owned.db.$client`
    SELECT type, message_id AS "messageId", data FROM events WHERE data IS NOT NULL
    ORDER BY epoch DESC, tx DESC, id DESC LIMIT 1`
}

const countChanges = async (waId: string) =>
  (await owned.db.$client`SELECT FROM events WHERE data ->> 'waId' = ${waId}`).length

test('a reaction to a message of the sender or of the contact is an event of that message', async () => {
  const ours = await send()
  const theirs = await receive()
  await recordMessageChanges(owned.db, [change({ target: ours.waId, fromMe: true, text: '👍' })])
  expect(await lastChange()).toMatchObject([{ type: 11, messageId: ours.id, data: { reaction: '👍' } }])
  await recordMessageChanges(owned.db, [change({ target: theirs.waId })])
  expect(await lastChange()).toMatchObject([{ type: 11, messageId: theirs.id, data: { reaction: null } }])
})

test('a change that WhatsApp delivers again has one event, also with another address of its contact', async () => {
  const { waId: target } = await receive()
  const both = change({ target, text: '👍', contactJid: '17@lid' })
  await recordMessageChanges(owned.db, [both, both])
  await recordMessageChanges(owned.db, [both])
  await recordMessageChanges(owned.db, [{ ...both, number: null }])
  await recordMessageChanges(owned.db, [{ ...both, contactJid: null }])
  expect(await countChanges(both.waId)).toBe(1)
  expect(await isReceived(owned.db, owned.device.deviceId, both)).toBe(true)
  expect(
    await isReceived(owned.db, owned.device.deviceId, { ...both, number: stranger, contactJid: null }),
  ).toBe(false)
  await recordMessageChanges(owned.db, [{ ...both, number: stranger, contactJid: null }])
  expect(await countChanges(both.waId)).toBe(2)
})

test('the account edits and deletes elsewhere only what it has written, here or there', async () => {
  const ours = await send()
  const theirs = await receive()
  const byHand = await receive({ writtenOn: 'phone', body: 'By hand' })
  const own = { fromMe: true, writtenOn: 'phone' as const }
  for (const { id, waId: target } of [ours, byHand]) {
    await recordMessageChanges(owned.db, [change({ ...own, target, kind: 'edited', text: 'new' })])
    expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({ body: 'new', direction: 'out' })
    expect((await lastChange())[0]).toMatchObject({ messageId: id, data: { fromMe: true, byMe: true } })
    await recordMessageChanges(owned.db, [change({ ...own, target, kind: 'deleted' })])
    expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({ body: null })
  }
  await recordMessageChanges(owned.db, [
    change({ ...own, fromMe: false, target: theirs.waId, kind: 'deleted' }),
  ])
  expect(await findMessage(owned.db, owned.accountId, theirs.id)).toMatchObject({ body: 'Hello' })
  const again = await receive({ ...byHand, id: makeMessageId(sender) })
  expect(await findMessage(owned.db, owned.accountId, again.id)).toBeUndefined()
})

test('a message of the phone and one of its contact may have the same id', async () => {
  const byHand = await receive({ writtenOn: 'phone' })
  const theirs = await receive({ waId: byHand.waId, body: 'Mine' })
  expect(await findMessage(owned.db, owned.accountId, byHand.id)).toMatchObject({
    direction: 'out',
    source: 'phone',
  })
  expect(await findMessage(owned.db, owned.accountId, theirs.id)).toMatchObject({
    direction: 'in',
    body: 'Mine',
  })
})

test('an edit that could not be read leaves the text, and its event says so', async () => {
  const { id, waId: target } = await receive()
  await recordMessageChanges(owned.db, [change({ target, kind: 'edited', isUnread: true })])
  const stored = { body: 'Hello', editedAt: expect.any(Date) }
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject(stored)
  expect(await lastChange()).toMatchObject([{ type: 12, messageId: id, data: { unread: true } }])
  await recordMessageChanges(owned.db, [
    change({ target, kind: 'edited', text: 'read' }),
    change({ target, kind: 'edited', isUnread: true }),
  ])
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({ body: 'read' })
})

test('an edit replaces the text, the last one of several', async () => {
  const { id, waId: target } = await receive()
  const edits = ['one', 'two'].map((text) => change({ target, kind: 'edited', text }))
  await recordMessageChanges(owned.db, edits)
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({
    body: 'two',
    editedAt: expect.any(Date),
    deletedAt: null,
  })
  expect(await lastChange()).toMatchObject([{ type: 12, messageId: id }])
  expect((await lastChange())[0]?.data).not.toHaveProperty('text')
})

test('a deletion removes the content for good', async () => {
  const quoted = { waId: 'X', from_me: null, type: 'text', text: 'q' }
  const { id, waId: target } = await receive({ content: { is_forwarded: true }, quoted })
  await recordMessageChanges(owned.db, [change({ target, kind: 'deleted' })])
  await recordMessageChanges(owned.db, [change({ target, kind: 'edited', text: 'back' })])
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({
    body: null,
    content: null,
    replyTo: null,
    deletedAt: expect.any(Date),
  })
})

test('a stranger, and the recipient of a message, can neither edit nor delete it', async () => {
  const theirs = await receive()
  const ours = await send()
  const kinds = ['edited', 'deleted'] as const
  for (const kind of kinds) {
    await recordMessageChanges(owned.db, [
      change({ target: theirs.waId, kind, text: 'forged', number: stranger }),
      change({ target: ours.waId, kind, text: 'forged' }),
      change({ target: ours.waId, kind, text: 'forged', fromMe: true }),
    ])
  }
  for (const { id } of [theirs, ours]) {
    const message = await findMessage(owned.db, owned.accountId, id)
    expect(message).toMatchObject({
      body: expect.not.stringContaining('forged'),
      deletedAt: null,
      editedAt: null,
    })
  }
})

test('a change of an unknown message is an event without one, with the text of an edit', async () => {
  await recordMessageChanges(owned.db, [change({ target: 'UNKNOWN', kind: 'edited', text: 'new' })])
  expect(await lastChange()).toMatchObject([{ messageId: null, data: { target: 'UNKNOWN', text: 'new' } }])
})

test('a former owner records nothing', async () => {
  const { id, waId: target } = await receive()
  const former = { ...owned.device.fence, epoch: owned.device.fence.epoch - 1 }
  const late = change({ target, kind: 'deleted', fence: former })
  expect(await recordMessageChanges(owned.db, [late])).toEqual([expect.any(Error)])
  expect(await countChanges(late.waId)).toBe(0)
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({ deletedAt: null })
})

test('a reply names the message of its chat that it quotes, and no message of another chat', async () => {
  const ours = await send()
  const theirs = await receive()
  const foreign = await receive({ number: stranger })
  for (const { waId, messageId, fromMe } of [
    { waId: ours.waId, messageId: ours.id, fromMe: true },
    { waId: theirs.waId, messageId: theirs.id, fromMe: false },
    { waId: foreign.waId, messageId: null, fromMe: null },
  ]) {
    const quoted = { waId, from_me: null, type: 'text', text: 'q' }
    const reply = await receive({ quoted })
    expect((await findMessage(owned.db, owned.accountId, reply.id))?.replyTo).toEqual({
      wa_message_id: waId,
      message_id: messageId,
      from_me: fromMe,
      type: 'text',
      text: 'q',
    })
  }
})
