import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { findDeviceStates } from '../src/queries/devices/device-owner-view.ts'
import { setNewChats, setRestriction } from '../src/queries/devices/device-restriction.ts'
import { type Fence, OwnershipLost } from '../src/queries/statements/fence.ts'
import { listDeviceEvents } from './device-events.ts'
import { openOwnedDevices } from './owned-devices.ts'

const hourMs = 3_600_000
const lock = { reason: 'reach_out_time_lock', forMs: hourMs } as const
let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let fence: Fence
let deviceId = 0

beforeAll(async () => {
  devices = await openOwnedDevices()
  db = devices.db
})
afterAll(() => devices.drop())
beforeEach(async () => {
  ;({ deviceId, fence } = await devices.addDevice())
})

async function find() {
  const [state] = await findDeviceStates(db, [deviceId])
  if (!state) throw new Error('no device')
  const { restrictedMs, restrictionReason, cappedMs } = state
  return { isRestricted: restrictedMs > 0, restrictionReason, isCapped: cappedMs > 0, restrictedMs, cappedMs }
}

test('the next owner finds for how long a device is restricted', async () => {
  expect(await find()).toMatchObject({ restrictedMs: 0, restrictionReason: null, cappedMs: 0 })
  await setRestriction(db, fence, deviceId, lock)
  const { restrictedMs, restrictionReason } = await find()
  expect(restrictionReason).toBe('reach_out_time_lock')
  expect(restrictedMs).toBeGreaterThan(0)
  expect(restrictedMs).toBeLessThanOrEqual(hourMs)
  await setRestriction(db, fence, deviceId, undefined)
  expect(await find()).toMatchObject({ restrictedMs: 0, restrictionReason: null })
})

test('a cap counts only when it is used up, and ends on its own', async () => {
  await setRestriction(db, fence, deviceId, lock)
  await setNewChats(db, fence, deviceId, { used: 9, total: 10, isCapped: false, forMs: hourMs })
  expect(await find()).toMatchObject({ isRestricted: true, isCapped: false })
  await setNewChats(db, fence, deviceId, { used: 10, total: 10, isCapped: true, forMs: hourMs })
  await setRestriction(db, fence, deviceId, undefined)
  expect(await find()).toMatchObject({ isRestricted: false, isCapped: true })
  await setNewChats(db, fence, deviceId, { used: null, total: null, isCapped: true, forMs: 0 })
  expect(await find()).toMatchObject({ isCapped: false })
})

test('a former owner changes nothing', async () => {
  const former = { ...fence, epoch: 6 }
  await expect(setRestriction(db, former, deviceId, lock)).rejects.toThrow(OwnershipLost)
  const capped = { used: 1, total: 1, isCapped: true, forMs: hourMs }
  await expect(setNewChats(db, former, deviceId, capped)).rejects.toThrow(OwnershipLost)
  expect(await find()).toMatchObject({ isRestricted: false, isCapped: false })
})

test('a restriction has an event when it begins, changes or is lifted, not when WhatsApp repeats it', async () => {
  const restrict = (restriction: Parameters<typeof setRestriction>[3]) =>
    setRestriction(db, fence, deviceId, restriction)
  await restrict(undefined)
  await restrict(lock)
  await restrict({ ...lock, forMs: lock.forMs + 5000 })
  await restrict({ ...lock, forMs: 2 * hourMs })
  await restrict({ reason: 'unconfirmed', forMs: 2 * hourMs })
  await restrict(undefined)
  await restrict(undefined)
  expect(await listDeviceEvents(db, deviceId)).toEqual([
    'restricted reach_out_time_lock',
    'restricted reach_out_time_lock',
    'restricted unconfirmed',
    'restriction_ended',
  ])
  await restrict({ ...lock, forMs: 0 })
  await restrict(undefined)
  expect((await listDeviceEvents(db, deviceId)).slice(4)).toEqual(['restricted reach_out_time_lock'])
})

test('a quota has an event when its numbers change', async () => {
  const set = (used: number | null, forMs = hourMs) =>
    setNewChats(db, fence, deviceId, { used, total: used && 10, isCapped: used === 10, forMs })
  await set(null)
  for (const used of [3, 3, 10]) await set(used)
  await set(10, 0)
  await set(10)
  const events = await db.$client<{ used: number; isCapped: boolean }[]>`
    SELECT (data->>'new_chats_used')::int AS used, (data->>'new_chats_capped')::bool AS "isCapped"
    FROM events WHERE device_id = ${deviceId} ORDER BY epoch, tx, id`
  expect(events).toEqual([
    { used: 3, isCapped: false },
    { used: 10, isCapped: true },
    { used: 10, isCapped: true },
  ])
})
