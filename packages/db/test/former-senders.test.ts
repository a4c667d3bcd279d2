import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { requestPairing, requestRemoval } from '../src/queries/devices/device-desired-state.ts'
import { linkDevice } from '../src/queries/devices/device-link.ts'
import { findDeviceStates, listDevicesWithWork } from '../src/queries/devices/device-owner-view.ts'
import { removeDevice, wipeCredentials } from '../src/queries/devices/device-removal.ts'
import { findDevice } from '../src/queries/devices/devices.ts'
import { deleteFormerDevices } from '../src/queries/retention/housekeeping.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let accountId: number
let sender = 4_915_200_000_000
let former: OwnedDevice

beforeAll(async () => {
  devices = await openOwnedDevices()
  ;({ db, accountId } = devices)
})
afterAll(() => devices.drop())

/** A device of the same sender as the last one of this test. */
const add = () => devices.addDevice(String(sender))

async function link({ deviceId, fence }: OwnedDevice): Promise<void> {
  await requestPairing(db, accountId, deviceId, { pairingMs: 60_000, force: false })
  const [state] = await findDeviceStates(db, [deviceId])
  const creds = { type: 'creds', id: '', value: Buffer.from('sealed') }
  const desiredRev = state?.desiredRev ?? -1
  await linkDevice(db, fence, deviceId, {
    key: randomUUID(),
    desiredRev,
    waJid: '1@s.whatsapp.net',
    waLid: null,
    creds,
  })
}

/** As the API and the owner do it. */
async function remove({ deviceId, fence }: OwnedDevice): Promise<void> {
  await requestRemoval(db, accountId, deviceId)
  while (!(await wipeCredentials(db, fence, deviceId, null)));
  await db.$client`UPDATE devices SET deleted_at = now() - interval '11 s' WHERE id = ${deviceId}`
  await removeDevice(db, fence, deviceId)
}

const set = ({ deviceId }: OwnedDevice, change: Record<string, string>) =>
  db.$client`UPDATE devices SET ${db.$client(change)} WHERE id = ${deviceId}`
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

const count = ({ deviceId }: OwnedDevice, number: string, days: number) =>
  db.$client`INSERT INTO new_contacts VALUES (${deviceId}, ${number}, ${daysAgo(days)})`
const countedOf = async ({ deviceId }: OwnedDevice) =>
  (
    await db.$client<{ number: string }[]>`
      SELECT number FROM new_contacts WHERE device_id = ${deviceId} ORDER BY number`
  ).map(({ number }) => number)

/** Days since the beginning of its warm-up. */
const warmUpDays = async ({ deviceId }: OwnedDevice) =>
  Math.floor(Date.now() / 86_400_000) - ((await findDeviceStates(db, [deviceId]))[0]?.warmUpDay ?? 0)

beforeEach(async () => {
  sender++
  former = await add()
  await link(former)
  await set(former, { warm_up_from: daysAgo(9) })
  await count(former, 'today', 0)
  await count(former, 'lately', 8)
})

describe('a sender that is deleted and created again', () => {
  it.each([
    ['removed', () => remove(former)],
    ['still to be logged out', () => requestRemoval(db, accountId, former.deviceId)],
  ])('goes on with its warm-up and new contacts when the former one is %s', async (_, del) => {
    await del()
    const next = await add()
    await link(next)
    expect(await warmUpDays(next)).toBe(9)
    expect(await countedOf(next)).toEqual(['lately', 'today'])
    expect(await findDevice(db, accountId, { deviceId: next.deviceId }, 0)).toMatchObject({
      newContactsUsed: 1,
    })
  })

  it('goes on over several, and counts a contact once, at its latest time', async () => {
    await remove(former)
    const second = await add()
    await link(second)
    await count(second, 'second', 0)
    await remove(second)
    const third = await add()
    await count(third, 'today', 20)
    await link(third)
    expect(await countedOf(third)).toEqual(['lately', 'second', 'today'])
    expect(await warmUpDays(third)).toBe(9)
    expect(await findDevice(db, accountId, { deviceId: third.deviceId }, 0)).toMatchObject({
      newContactsUsed: 2,
    })
  })

  it('begins anew 30 days after it was unlinked, or when it was never linked', async () => {
    await remove(former)
    await set(former, { unlinked_at: daysAgo(31) })
    const next = await add()
    await remove(next)
    const last = await add()
    await link(last)
    expect(await warmUpDays(last)).toBe(0)
  })

  it('has nothing from the same number of another account', async () => {
    await remove(former)
    const [{ id } = { id: 0 }] = await db.$client<{ id: number }[]>`
      INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES (${`${sender}@example.com`}, '', 'USER', 9) RETURNING id`
    await db.$client`UPDATE devices SET account_id = ${id} WHERE id = ${former.deviceId}`
    const next = await add()
    await link(next)
    expect(await countedOf(next)).toEqual([])
    expect(await warmUpDays(next)).toBe(0)
  })
})

it('a removed device asks nothing of its owner, keeps no proxy, and its row goes after 30 days', async () => {
  const { deviceId, fence } = former
  await db.$client`INSERT INTO device_proxies VALUES (${deviceId}, 'http://proxy', 'sealed')`
  await remove(former)
  const isThere = async () => (await db.$client`SELECT FROM devices WHERE id = ${deviceId}`).length === 1
  const stored = await db.$client`SELECT FROM device_proxies WHERE device_id = ${deviceId}`
  expect(stored).toHaveLength(0)
  expect((await listDevicesWithWork(db, [fence.shard])).map(({ id }) => id)).not.toContain(deviceId)
  expect(await findDeviceStates(db, [deviceId])).toEqual([undefined])
  await deleteFormerDevices(db)
  expect(await isThere()).toBe(true)
  await set(former, { removed_at: daysAgo(31) })
  await deleteFormerDevices(db)
  expect(await isThere()).toBe(false)
  expect(await countedOf(former)).toEqual([])
})
