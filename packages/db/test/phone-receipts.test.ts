import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMessage } from '../src/queries/messages/message-history.ts'
import { type PhoneReceipt, recordPhoneReceipts } from '../src/queries/messages/phone-receipts.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import { OwnershipLost } from '../src/queries/statements/fence.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'
const contact = '4915187654321'
const lid = '123456789@lid'

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addLinkedDevice(sender)
})
afterAll(() => owned.drop())

async function write(fields: { writtenOn?: 'phone'; contactJid?: string } = { writtenOn: 'phone' }) {
  const { fence, deviceId } = device
  const id = makeMessageId(sender)
  const message = { fence, deviceId, sender, number: contact, id, waId: randomUUID(), linkGeneration: 1 }
  const rest = { accountId: owned.accountId, type: 'text' as const, body: 'Hello', ...fields }
  await insertReceivedMessages(owned.db, [{ ...message, ...rest }])
  return message
}

const receipt = (waId: string, status: PhoneReceipt['status'], fields: Partial<PhoneReceipt> = {}) => ({
  ...{ fence: device.fence, deviceId: device.deviceId, waId, status, at: new Date().toISOString() },
  saidBy: { jid: `${contact}@s.whatsapp.net`, otherJid: null },
  ...fields,
})
const find = (id: string) => findMessage(owned.db, owned.accountId, id)

test('a message of the phone is delivered, read and played, moves only forward, and has no events of it', async () => {
  const { id, waId } = await write()
  const record = (status: PhoneReceipt['status']) => recordPhoneReceipts(owned.db, [receipt(waId, status)])
  expect(await record('delivered')).toEqual(['recorded'])
  expect(await find(id)).toMatchObject({
    ...{ status: 'delivered', sentAt: null, deliveredAt: expect.any(Date), readAt: null },
  })
  await record('read')
  await record('delivered')
  expect(await find(id)).toMatchObject({ status: 'read', readAt: expect.any(Date), playedAt: null })
  await record('played')
  expect(await find(id)).toMatchObject({ status: 'read', playedAt: expect.any(Date) })
  const events = await owned.db.$client`SELECT type FROM events WHERE message_id = ${id}`
  expect(events).toHaveLength(1)
})

test('several receipts of a message in one statement are recorded, those of its LID too', async () => {
  const { id, waId } = await write({ writtenOn: 'phone', contactJid: lid })
  const byLid = { saidBy: { jid: lid, otherJid: null } }
  const answer = await recordPhoneReceipts(owned.db, [
    receipt(waId, 'delivered'),
    receipt(waId, 'read', byLid),
  ])
  expect(answer).toEqual(['recorded', 'recorded'])
  expect(await find(id)).toMatchObject({ status: 'read', deliveredAt: expect.any(Date) })
})

test('a receipt of another contact, of a received message and of a former owner changes nothing', async () => {
  const [own, received] = [await write(), await write({})]
  const stranger = { saidBy: { jid: '4915187654399@s.whatsapp.net', otherJid: null } }
  const answer = await recordPhoneReceipts(owned.db, [
    receipt(own.waId, 'read', stranger),
    receipt(received.waId, 'read'),
  ])
  expect(answer).toEqual(['unknown', 'unknown'])
  const fence = { ...device.fence, epoch: device.fence.epoch - 1 }
  const [lost] = await recordPhoneReceipts(owned.db, [receipt(own.waId, 'read', { fence })])
  expect(lost).toBeInstanceOf(OwnershipLost)
  expect(await find(own.id)).toMatchObject({ status: 'sent', readAt: null })
  expect(await find(received.id)).toMatchObject({ status: 'received', readAt: null })
})
