import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Consent } from '../src/queries/contacts/consent-steps.ts'
import { insertOptOut, listOptOuts } from '../src/queries/contacts/opt-outs.ts'
import { insertReceivedMessages, type ReceivedMessage } from '../src/queries/messages/received-messages.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'
const number = '5511987654321'
const otherForm = '551187654321'

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addDevice(sender)
})
beforeEach(() => owned.db.$client`TRUNCATE opt_outs, events`)
afterAll(() => owned.drop())

const received = (consent: Consent | null, fields: Partial<ReceivedMessage> = {}): ReceivedMessage => ({
  fence: device.fence,
  id: makeMessageId(sender),
  accountId: owned.accountId,
  deviceId: device.deviceId,
  sender,
  number,
  type: 'text' as const,
  body: 'x',
  waId: randomUUID(),
  linkGeneration: 1,
  consent,
  ...fields,
})

const store = (...messages: ReceivedMessage[]) => insertReceivedMessages(owned.db, messages)

async function optedOut(): Promise<string[]> {
  const found = await listOptOuts(owned.db, owned.accountId, { after: undefined, limit: 10 })
  return found.map((optOut) => optOut.key)
}

async function listEvents(): Promise<{ type: number; data: unknown }[]> {
  return owned.db.$client`
    SELECT type, data FROM events WHERE account_id = ${owned.accountId} AND message_id IS NULL ORDER BY epoch, tx, id`
}

test('a contact opts out and in again, with an event for each change', async () => {
  await store(received('opt-out'))
  expect(await optedOut()).toEqual([number])
  await store(received('opt-out'))
  await store(received('opt-in', { number: otherForm }))
  expect(await optedOut()).toEqual([])
  await store(received('opt-in'))
  const data = { number }
  expect(await listEvents()).toEqual([
    { type: 40, data },
    { type: 41, data },
  ])
})

test('a word of a message that WhatsApp delivers again changes nothing', async () => {
  const first = received('opt-out')
  await store(first)
  await store(received('opt-in'))
  await store({ ...first, id: makeMessageId(sender) })
  expect(await optedOut()).toEqual([])
  expect(await listEvents()).toHaveLength(2)
})

test('of several messages in one statement, the last of each number decides', async () => {
  const other = '4915187654321'
  await store(
    received('opt-out'),
    received('opt-in', { number: other }),
    received('opt-in'),
    received(null),
    received('opt-out', { number: other }),
  )
  expect(await optedOut()).toEqual([other])
})

test('a contact that has opted out with the other form of its number stays so', async () => {
  await insertOptOut(owned.db, owned.accountId, otherForm)
  await store(received('opt-out'))
  expect(await optedOut()).toEqual([otherForm])
  expect(await listEvents()).toHaveLength(1)
})

test('a former owner opts nobody out', async () => {
  const former = { ...device.fence, epoch: device.fence.epoch - 1 }
  expect(await store(received('opt-out', { fence: former }))).toEqual([expect.any(Error)])
  expect(await optedOut()).toEqual([])
})

test('a contact without a known number opts out by its LID', async () => {
  await store(received('opt-out', { number: null, contactJid: '17@lid' }))
  expect(await optedOut()).toEqual(['17@lid'])
  await store(received('opt-in', { number: null, contactJid: '17@lid' }))
  expect(await optedOut()).toEqual([])
})

test('a contact with neither a number nor a LID does not opt out, and its message is stored', async () => {
  const { id, ...rest } = received('opt-out', { number: null, contactJid: '17@bot' })
  await store({ id, ...rest })
  expect(await optedOut()).toEqual([])
  expect(await owned.db.$client`SELECT FROM messages WHERE id = ${id}`).toHaveLength(1)
})
