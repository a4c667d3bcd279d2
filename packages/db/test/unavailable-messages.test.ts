import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMessage } from '../src/queries/messages/message-history.ts'
import {
  findUnavailable,
  insertReceivedMessages,
  isReceived,
  type ReceivedMessage,
} from '../src/queries/messages/received-messages.ts'
import { openReceivingDevice, sender } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openReceivingDevice>>

beforeAll(async () => {
  owned = await openReceivingDevice()
})
afterAll(() => owned.drop())

const received = (fields?: Partial<ReceivedMessage>) => owned.received(fields)

const withoutContent = (fields: Partial<ReceivedMessage> = {}) =>
  received({ type: 'other', body: null, unavailable: 'undecryptable', ...fields })

const countEvents = async (id: string) =>
  (await owned.db.$client`SELECT FROM events WHERE message_id = ${id}`).length
const countRows = async (waId: string) =>
  (await owned.db.$client`SELECT FROM messages WHERE wa_id = ${waId}`).length

test('a message without its content is not received yet, and its content takes its place, once', async () => {
  const first = withoutContent({ writtenAt: '2026-01-31T12:00:00.000Z' })
  await insertReceivedMessages(owned.db, [first])
  await insertReceivedMessages(owned.db, [{ ...first, id: makeMessageId(sender) }])
  expect(await isReceived(owned.db, owned.device.deviceId, first)).toBe(false)
  expect(await findUnavailable(owned.db, owned.device.deviceId, first)).toBe(first.id)
  const media = {
    ...{ state: 'pending' as const, sealed: Buffer.from('x'), declaredMime: 'image/png', filename: null },
    ...{ size: 9, sha256: Buffer.alloc(32) },
  }
  const content = received({
    ...first,
    type: 'image',
    body: 'Seen',
    unavailable: null,
    media,
    isReplacement: true,
  })
  await insertReceivedMessages(owned.db, [content])
  await insertReceivedMessages(owned.db, [content])
  expect(await findMessage(owned.db, owned.accountId, first.id)).toMatchObject({
    ...{ type: 'image', body: 'Seen', unavailable: null, media: { state: 'pending' } },
    writtenAt: new Date('2026-01-31T12:00:00.000Z'),
  })
  expect(await isReceived(owned.db, owned.device.deviceId, first)).toBe(true)
  expect(await findUnavailable(owned.db, owned.device.deviceId, first)).toBeUndefined()
  expect([await countRows(first.waId), await countEvents(first.id)]).toEqual([1, 2])
})

test('a message of the phone without its content gets it as well', async () => {
  const first = withoutContent({ writtenOn: 'phone' })
  await insertReceivedMessages(owned.db, [first])
  expect(await isReceived(owned.db, owned.device.deviceId, first)).toBe(false)
  expect(await findUnavailable(owned.db, owned.device.deviceId, first)).toBe(first.id)
  const { writtenOn: _, ...ofContact } = first
  expect(await findUnavailable(owned.db, owned.device.deviceId, ofContact)).toBeUndefined()
  const content = received({ ...first, type: 'text', body: 'Seen', unavailable: null, isReplacement: true })
  await insertReceivedMessages(owned.db, [content])
  expect(await findMessage(owned.db, owned.accountId, first.id)).toMatchObject({
    ...{ direction: 'out', source: 'phone', status: 'sent', body: 'Seen', unavailable: null },
  })
  expect(await isReceived(owned.db, owned.device.deviceId, first)).toBe(true)
  expect([await countRows(first.waId), await countEvents(first.id)]).toEqual([1, 2])
})

test('a message that was received does not lose its content', async () => {
  const message = received()
  await insertReceivedMessages(owned.db, [message])
  await insertReceivedMessages(owned.db, [withoutContent({ waId: message.waId })])
  expect(await findMessage(owned.db, owned.accountId, message.id)).toMatchObject({ body: 'Hello' })
  expect([await countRows(message.waId), await countEvents(message.id)]).toEqual([1, 1])
})

test('a word by which a contact opts out counts when it could be read at last', async () => {
  const first = withoutContent({ number: '4915187654399' })
  await insertReceivedMessages(owned.db, [first])
  const stop = {
    type: 'text',
    body: 'stop',
    unavailable: null,
    isReplacement: true,
    consent: 'opt-out',
  } as const
  await insertReceivedMessages(owned.db, [{ ...first, ...stop }])
  const found = await owned.db.$client`SELECT FROM opt_outs WHERE number = '4915187654399'`
  expect(found).toHaveLength(1)
})
