import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { setbackMarks, timelineMarks } from '@wagate/shared/timeline-marks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { createDevice, findDevice } from '../src/queries/devices/devices.ts'
import { findEnded } from '../src/queries/messages/ended-messages.ts'
import { listDeviceWaits, listMessageWaits } from '../src/queries/messages/message-waits.ts'
import { claimShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { openAccountDatabase } from './account-database.ts'

let db: Database
let drop: () => Promise<void>
let accountId: number
let deviceId: number

beforeAll(async () => {
  ;({ db, drop, accountId } = await openAccountDatabase())
  await createDevice(db, accountId, { sender: '4915100000000', name: 'x', cmsId: null, cmsVer: null })
  const device = await findDevice(db, accountId, { sender: '4915100000000' }, 0)
  if (!device) throw new Error('The device was not created')
  deviceId = device.id
  const workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'w', capacity: 1, leaseTtlMs: 3_600_000 })
  await claimShards(db, workerId, [device.shard])
})
afterAll(() => drop())

beforeEach(async () => {
  await db.$client`DELETE FROM messages`
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1, connection = 'online'
    WHERE id = ${deviceId}`
})

type Fields = { number?: string; status?: string; sendAt?: string; failingSince?: string; sentAt?: string }

/** Moments are intervals from now, such as `-5 minutes`. */
async function insert({ number = '2', status = 'queued', ...at }: Fields = {}): Promise<string> {
  const sql = db.$client
  const moment = (interval: string | undefined) => sql`now() + ${interval ?? null}::interval`
  const id = makeMessageId('1')
  await sql`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation,
      send_at, failing_since, sent_at)
    VALUES (${id}, ${accountId}, ${deviceId}, 'out', 'text', '1', ${number}, ${status}, 'X', 1,
      ${moment(at.sendAt)}, ${moment(at.failingSince)}, ${moment(at.sentAt)})`
  return id
}

const nothing = { restricted: [], usedUp: [] }
const waitOf = async (id: string, asked: { restricted: number[]; usedUp: number[] } = nothing) =>
  (await listMessageWaits(db, accountId, [id], asked))[0]
const deviceWait = async (dailyCap = 0) => (await listDeviceWaits(db, accountId, [deviceId], { dailyCap }))[0]

test.each([
  ['waits', {}, true],
  ['is being sent', { status: 'sending' }, true],
  ['has failed for a while', { failingSince: '-5 minutes' }, true],
  ['has failed for so long that it may be passed', { failingSince: '-11 minutes' }, false],
  ['is scheduled for later', { sendAt: '1 hour' }, false],
  ['was scheduled and is due', { sendAt: '-1 minute' }, true],
  ['is sent', { status: 'sent' }, false],
  ['goes to another number', { number: '3' }, false],
] as [string, Fields, boolean][])('a message behind one that %s', async (_, earlier, isBehind) => {
  await insert(earlier)
  expect((await waitOf(await insert()))?.isBehind).toBe(isBehind)
})

test('a message waits behind one to another form of its number', async () => {
  await insert({ number: '5511987654321' })
  expect((await waitOf(await insert({ number: '551187654321' })))?.isBehind).toBe(true)
})

test('a message does not wait for itself, for a later one, or when it has ended', async () => {
  const first = await insert()
  await insert()
  expect((await waitOf(first))?.isBehind).toBe(false)
  expect(await waitOf(await insert({ status: 'canceled' }))).toBeUndefined()
  expect(await listMessageWaits(db, accountId + 1, [first], nothing)).toEqual([])
})

test('whether its recipient is a new contact is asked for devices that may not write to those', async () => {
  await insert({ number: '3', status: 'sent', sentAt: '-1 day' })
  await db.$client`INSERT INTO new_contacts (device_id, number) VALUES (${deviceId}, '4')`
  const [unknown, known, counted] = [
    await insert(),
    await insert({ number: '3' }),
    await insert({ number: '4' }),
  ]
  const asked = async (of: { restricted: number[]; usedUp: number[] }) =>
    Promise.all([unknown, known, counted].map(async (id) => (await waitOf(id, of))?.isNewContact))
  expect(await asked(nothing)).toEqual([null, null, null])
  expect(await asked({ restricted: [deviceId], usedUp: [] })).toEqual([true, false, true])
  expect(await asked({ restricted: [], usedUp: [deviceId] })).toEqual([true, false, false])
})

test('a device is connected while it is linked, online and has a live owner', async () => {
  const sql = db.$client
  expect((await deviceWait())?.isConnected).toBe(true)
  for (const change of [`connection = 'offline'`, `desired = 'unlinked'`, `shard = shard + 1`]) {
    await sql.unsafe(`UPDATE devices SET ${change} WHERE id = ${deviceId}`)
    expect((await deviceWait())?.isConnected, change).toBe(false)
    await sql`
      UPDATE devices SET connection = 'online', desired = 'linked', shard = id % (SELECT shards FROM installation)
      WHERE id = ${deviceId}`
  }
})

test('the cap counts what was sent today, under the cap of the device or the default', async () => {
  await insert({ status: 'sent', sentAt: '0' })
  await insert({ status: 'sent', sentAt: '-25 hours' })
  const reached = async (dailyCap: number) => (await deviceWait(dailyCap))?.isCapReached
  expect([await reached(0), await reached(1), await reached(2)]).toEqual([false, true, false])
})

test('a restriction lasts until the latest of what WhatsApp has said', async () => {
  const sql = db.$client
  const setUntil = (lock: string | null, chats: string | null, isCapped: boolean) => sql`
    UPDATE devices SET restricted_until = now() + ${lock}::interval, new_chats_until = now() + ${chats}::interval,
      new_chats_capped = ${isCapped} WHERE id = ${deviceId}`
  const hours = async () => {
    const untilMs = (await deviceWait())?.restrictedUntilMs
    return untilMs ? Math.round((untilMs - Date.now()) / 3_600_000) : null
  }
  await setUntil('-1 hour', null, false)
  expect(await hours()).toBeNull()
  await setUntil('2 hours', '5 hours', false)
  expect(await hours()).toBe(2)
  await setUntil('2 hours', '5 hours', true)
  expect(await hours()).toBe(5)
  await setUntil(null, null, false)
})

test('messages that were read and have ended since are found', async () => {
  const ids = [await insert(), await insert({ status: 'canceled' }), await insert({ status: 'sending' })]
  const rows = await db.$client<{ id: string; createdAt: string }[]>`
    SELECT id, created_at::text AS "createdAt" FROM messages`
  expect(await findEnded(db, rows)).toEqual([ids[1]])
})

test('a message is held while an attempt is made for it, and not between two', async () => {
  const id = await insert({ status: 'sending' })
  const note = (marks: number[]) => {
    const timeline = Buffer.concat(marks.map((mark) => Buffer.of(mark, 0, 0, 0, 0)))
    return db.$client`UPDATE messages SET held_epoch = 1, timeline = ${timeline} WHERE id = ${id}`
  }
  const { sending } = timelineMarks
  for (const [marks, isHeld] of [
    [[sending], true],
    [[sending, setbackMarks.refused], false],
    [[sending, setbackMarks.refused, sending], true],
  ] as const) {
    await note([...marks])
    expect(await waitOf(id)).toMatchObject({ isHeld })
  }
})
