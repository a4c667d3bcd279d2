import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDevicesWithWork } from '../src/queries/devices/device-owner-view.ts'
import { findMessage } from '../src/queries/messages/message-history.ts'
import {
  endReadRequests,
  listReadRequests,
  readChatMax,
  requestRead,
  requestReadOfChat,
} from '../src/queries/messages/read-requests.ts'
import { insertReceivedMessages, type ReceivedMessage } from '../src/queries/messages/received-messages.ts'
import { beginning, deleteOldReadRequests } from '../src/queries/retention/housekeeping.ts'
import { OwnershipLost } from '../src/queries/statements/fence.ts'
import { listMessageEvents } from './message-events.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

type Receiver = OwnedDevice & { sender: string }

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
const contact = '5511987654321'
let senders = 4_915_200_000_000

beforeAll(async () => {
  owned = await openOwnedDevices()
})
afterAll(() => owned.drop())

async function addReceiver(): Promise<Receiver> {
  const sender = String(senders++)
  return { ...(await owned.addDevice(sender)), sender }
}

async function receive(
  { deviceId, fence, sender }: Receiver,
  fields: Partial<ReceivedMessage> = {},
): Promise<ReceivedMessage> {
  const received = {
    fence,
    deviceId,
    sender,
    id: makeMessageId(sender),
    accountId: owned.accountId,
    number: contact,
    type: 'text' as const,
    body: 'x',
    waId: randomUUID(),
    linkGeneration: 1,
    ...fields,
  }
  await insertReceivedMessages(owned.db, [received])
  return received
}

const request = (messageId: string, accountId = owned.accountId) =>
  requestRead(owned.db, accountId, messageId)
const requestChat = (sender: string, number = contact) =>
  requestReadOfChat(owned.db, owned.accountId, { sender, key: number })
const list = ({ deviceId }: Receiver) => listReadRequests(owned.db, deviceId, 100)
const readAtOf = async (id: string) => (await findMessage(owned.db, owned.accountId, id))?.readAt
const eventsOf = (id: string) => listMessageEvents(owned.db, id)
const hasRequests = async ({ deviceId, fence }: Receiver) =>
  (await listDevicesWithWork(owned.db, [fence.shard])).find(({ id }) => id === deviceId)?.hasReadRequests

test('a request is stored once, and found by the owner until it has ended', async () => {
  const device = await addReceiver()
  await owned.db.$client`UPDATE devices SET has_credentials = true WHERE id = ${device.deviceId}`
  expect(await hasRequests(device)).toBe(false)
  const { id, waId } = await receive(device, { contactJid: '17@lid' })
  for (const _ of ['first', 'again'])
    expect(await request(id)).toEqual({ deviceId: device.deviceId, requested: 1 })
  expect(await list(device)).toEqual([{ messageId: id, waId, number: contact, contactJid: '17@lid' }])
  expect(await hasRequests(device)).toBe(true)
  await endReadRequests(owned.db, device.fence, device.deviceId, { read: [id], dropped: [] })
  expect(await list(device)).toEqual([])
  const readAt = await readAtOf(id)
  expect(readAt).toBeInstanceOf(Date)
  expect(await request(id)).toEqual({ deviceId: device.deviceId, requested: 0 })
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({ status: 'received', readAt })
})

test('a former owner ends no request and marks nothing as read', async () => {
  const device = await addReceiver()
  const { id } = await receive(device)
  await request(id)
  const former = { ...device.fence, epoch: device.fence.epoch - 1 }
  const late = endReadRequests(owned.db, former, device.deviceId, { read: [id], dropped: [] })
  await expect(late).rejects.toThrow(OwnershipLost)
  expect(await list(device)).toHaveLength(1)
  expect(await readAtOf(id)).toBeNull()
  expect(await eventsOf(id)).toEqual(['message.received'])
})

test('a message that two requests mark as read has one event of it', async () => {
  const device = await addReceiver()
  const { id } = await receive(device)
  const insertRequest = () => owned.db.$client`
    INSERT INTO read_requests (message_id, message_at, device_id)
    SELECT id, created_at, device_id FROM messages WHERE id = ${id}`
  for (const _ of ['first', 'again']) {
    await insertRequest()
    await endReadRequests(owned.db, device.fence, device.deviceId, { read: [id], dropped: [] })
  }
  expect(await list(device)).toEqual([])
  expect(await eventsOf(id)).toEqual(['message.received', 'message.marked_read'])
})

test('an owner ends no request of another device', async () => {
  const [device, other] = [await addReceiver(), await addReceiver()]
  const { id } = await receive(device)
  await request(id)
  await endReadRequests(owned.db, other.fence, other.deviceId, { read: [id], dropped: [] })
  expect(await list(device)).toHaveLength(1)
  expect(await readAtOf(id)).toBeNull()
})

test('a dropped request leaves its message unread', async () => {
  const device = await addReceiver()
  const { id } = await receive(device)
  await request(id)
  await endReadRequests(owned.db, device.fence, device.deviceId, { read: [], dropped: [id] })
  expect(await list(device)).toEqual([])
  expect(await readAtOf(id)).toBeNull()
  expect(await eventsOf(id)).toEqual(['message.received'])
})

test('only received messages of the account can be marked as read', async () => {
  const device = await addReceiver()
  const { id } = await receive(device)
  expect(await request(id, owned.accountId + 1)).toBeUndefined()
  await owned.db.$client`UPDATE messages SET direction = 'out' WHERE id = ${id}`
  expect(await request(id)).toBeUndefined()
  expect(await list(device)).toEqual([])
})

test('of a chat, all unread messages of the sender from this number are requested', async () => {
  const [device, other] = [await addReceiver(), await addReceiver()]
  const unread = [await receive(device), await receive(device)]
  const { id: read } = await receive(device)
  await request(read)
  await endReadRequests(owned.db, device.fence, device.deviceId, { read: [read], dropped: [] })
  await receive(device, { number: '4915199999999' })
  await receive(other)
  // The other form of the same number.
  expect(await requestChat(device.sender, '551187654321')).toEqual({
    deviceId: device.deviceId,
    requested: 2,
  })
  expect((await list(device)).map(({ messageId }) => messageId)).toEqual(unread.map(({ id }) => id))
  expect(await list(other)).toEqual([])
  expect(await requestChat('4915100000000')).toBeUndefined()
})

test('of a chat, no more than the newest thousand are requested', async () => {
  const device = await addReceiver()
  const insert = (count: number) => owned.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation)
    SELECT gen_random_uuid(), ${owned.accountId}, ${device.deviceId}, 'in', 'text', ${device.sender}, ${contact},
      'received', n::text, 1
    FROM generate_series(1, ${count}::int) AS n`
  await insert(1)
  expect(await requestChat(device.sender)).toMatchObject({ requested: 1 })
  await insert(readChatMax.messages)
  expect(await requestChat(device.sender)).toMatchObject({ requested: readChatMax.messages })
})

test('a request whose message retention has removed is listed without it, to be dropped', async () => {
  const device = await addReceiver()
  const { id } = await receive(device)
  await request(id)
  await owned.db.$client`DELETE FROM messages WHERE id = ${id}`
  expect(await list(device)).toMatchObject([{ messageId: id, waId: null }])
})

test('a request of a sender that is not connected for 30 days is deleted', async () => {
  const device = await addReceiver()
  const [old, young] = [await receive(device), await receive(device)]
  for (const { id } of [old, young]) await request(id)
  await owned.db.$client`
    UPDATE read_requests SET created_at = now() - interval '31 days' WHERE message_id = ${old.id}`
  await deleteOldReadRequests(owned.db, beginning)
  expect((await list(device)).map(({ messageId }) => messageId)).toEqual([young.id])
})
