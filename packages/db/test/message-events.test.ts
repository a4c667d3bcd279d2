import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acceptMessages, type NewMessage } from '../src/queries/messages/accept-messages.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { insertReceivedMessages, type ReceivedMessage } from '../src/queries/messages/received-messages.ts'
import { failUnlinkedMessages, firstWaiting } from '../src/queries/messages/unsendable-messages.ts'
import { listMessageEvents } from './message-events.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addLinkedDevice(sender)
})
afterAll(() => owned.drop())

const newMessage = (from = sender): NewMessage => ({
  id: makeMessageId(from),
  waId: randomUUID(),
  accountId: owned.accountId,
  sender: from,
  number: '4915187654321',
  type: 'text',
  body: 'x',
  url: null,
  filename: null,
  sendAt: null,
  media: null,
  idempotency: null,
})

const accept = (messages: NewMessage[]) => acceptMessages(owned.db, messages, { mediaBytesMax: 0 })

test('an accepted message has an event, a refused one has none', async () => {
  const [accepted, refused] = [newMessage(), newMessage('4999999999999')]
  await accept([accepted, refused])
  expect(await listMessageEvents(owned.db, accepted.id)).toEqual(['message.accepted'])
  expect(await listMessageEvents(owned.db, refused.id)).toEqual([])
})

test('the events of one statement are in the order of its messages', async () => {
  const messages = Array.from({ length: 20 }, () => newMessage())
  await accept(messages)
  const events = await owned.db.$client<{ messageId: string }[]>`
    SELECT message_id AS "messageId" FROM events ORDER BY epoch DESC, tx DESC, id DESC LIMIT 20`
  expect(events.map(({ messageId }) => messageId).reverse()).toEqual(messages.map(({ id }) => id))
})

test('a message that is canceled twice has one event of it', async () => {
  const message = newMessage()
  await accept([message])
  await cancelMessage(owned.db, owned.accountId, message.id)
  await cancelMessage(owned.db, owned.accountId, message.id)
  expect(await listMessageEvents(owned.db, message.id)).toEqual(['message.accepted', 'message.canceled'])
})

test('a message of a lost link has an event of its failure, unless the owner has lost the shard', async () => {
  const { fence, deviceId } = await owned.addDevice('4915100009999')
  const setGeneration = (generation: number) => owned.db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = ${generation}
    WHERE id = ${deviceId}`
  await setGeneration(1)
  const message = newMessage('4915100009999')
  await accept([message])
  await setGeneration(2)
  const former = { ...fence, epoch: fence.epoch - 1 }
  await expect(failUnlinkedMessages(owned.db, former, deviceId, firstWaiting, 'Gone.')).rejects.toThrow()
  expect(await listMessageEvents(owned.db, message.id)).toEqual(['message.accepted'])
  await failUnlinkedMessages(owned.db, fence, deviceId, firstWaiting, 'Gone.')
  expect(await listMessageEvents(owned.db, message.id)).toEqual(['message.accepted', 'message.failed'])
})

test('a received message has one event, however often WhatsApp delivers it', async () => {
  const received: ReceivedMessage = {
    fence: device.fence,
    id: makeMessageId(sender),
    accountId: owned.accountId,
    deviceId: device.deviceId,
    sender,
    number: '4915187654321',
    type: 'text',
    body: 'Hello',
    waId: randomUUID(),
    linkGeneration: 1,
  }
  const former = { ...received, fence: { ...device.fence, epoch: device.fence.epoch - 1 } }
  const again = { ...received, id: makeMessageId(sender) }
  await insertReceivedMessages(owned.db, [former])
  expect(await listMessageEvents(owned.db, received.id)).toEqual([])
  await insertReceivedMessages(owned.db, [received])
  await insertReceivedMessages(owned.db, [again])
  expect(await listMessageEvents(owned.db, received.id)).toEqual(['message.received'])
  expect(await listMessageEvents(owned.db, again.id)).toEqual([])
})
