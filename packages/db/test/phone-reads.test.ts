import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMessage } from '../src/queries/messages/message-history.ts'
import { recordPhoneRead } from '../src/queries/messages/phone-reads.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import { OwnershipLost } from '../src/queries/statements/fence.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'
const contact = '4915187654321'

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addLinkedDevice(sender)
})
afterAll(() => owned.drop())

async function receive(number = contact) {
  const { fence, deviceId } = device
  const message = { fence, deviceId, sender, number, id: makeMessageId(sender), waId: randomUUID() }
  const rest = { accountId: owned.accountId, type: 'text' as const, body: 'Hello', linkGeneration: 1 }
  await insertReceivedMessages(owned.db, [{ ...message, ...rest }])
  return message
}

const read = (waIds: string[], at = new Date().toISOString()) =>
  recordPhoneRead(owned.db, device.fence, device.deviceId, { waIds, number: contact, contactJid: null, at })
const countEvents = async (id: string) =>
  (await owned.db.$client`SELECT FROM events WHERE message_id = ${id} AND type = 19`).length

test('messages of a chat that were read on the phone are read once, and those of other chats are not', async () => {
  const [one, other] = [await receive(), await receive('4915187654399')]
  await read([one.waId, other.waId])
  await read([one.waId])
  expect(await findMessage(owned.db, owned.accountId, one.id)).toMatchObject({ readAt: expect.any(Date) })
  expect(await findMessage(owned.db, owned.accountId, other.id)).toMatchObject({ readAt: null })
  expect([await countEvents(one.id), await countEvents(other.id)]).toEqual([1, 0])
})

test('a former owner of the sender records nothing', async () => {
  const { waId, id } = await receive()
  const fence = { ...device.fence, epoch: device.fence.epoch - 1 }
  const lost = recordPhoneRead(owned.db, fence, device.deviceId, {
    ...{ waIds: [waId], number: contact, contactJid: null, at: new Date().toISOString() },
  })
  await expect(lost).rejects.toBeInstanceOf(OwnershipLost)
  expect(await findMessage(owned.db, owned.accountId, id)).toMatchObject({ readAt: null })
})
