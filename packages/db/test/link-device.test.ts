import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { setConnection } from '../src/queries/devices/device-connection.ts'
import {
  findPairing,
  requestPairing,
  requestRestart,
  requestUnlink,
} from '../src/queries/devices/device-desired-state.ts'
import { linkDevice, refuseLink } from '../src/queries/devices/device-link.ts'
import { findDeviceStates } from '../src/queries/devices/device-owner-view.ts'
import { wipeCredentials } from '../src/queries/devices/device-removal.ts'
import { findDevice } from '../src/queries/devices/devices.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { openOwnedDevices } from './owned-devices.ts'

const creds = { type: 'creds', id: '', value: Buffer.from('sealed') }
let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let accountId: number
let deviceId: number
let fence: Fence

beforeAll(async () => {
  devices = await openOwnedDevices()
  ;({ db, accountId } = devices)
})
afterAll(() => devices.drop())

beforeEach(async () => {
  ;({ deviceId, fence } = await devices.addDevice())
})

async function requestQr({ force = false } = {}): Promise<number> {
  await requestPairing(db, accountId, deviceId, { pairingMs: 60_000, force })
  const [device] = await db.$client<{ rev: number }[]>`
    SELECT desired_rev AS rev FROM devices WHERE id = ${deviceId}`
  return device?.rev ?? -1
}

const link = (desiredRev: number) =>
  linkDevice(db, fence, deviceId, {
    key: randomUUID(),
    desiredRev,
    waJid: '1@s.whatsapp.net',
    waLid: null,
    creds,
  })

const statusOf = async () => (await findDevice(db, accountId, { deviceId }, 60_000))?.status
const isLinked = async () => (await findPairing(db, accountId, deviceId))?.isLinked

describe('a scan links the device only for the request whose QR code was scanned', () => {
  it('also after its QR code was requested again', async () => {
    const rev = await requestQr()
    await requestQr({ force: true })
    await link(rev)
    expect(await isLinked()).toBe(true)
    expect(await statusOf()).toBe('connected')
  })

  it('not after a logout', async () => {
    const rev = await requestQr()
    await requestUnlink(db, accountId, deviceId)
    await link(rev)
    expect(await statusOf()).toBe('disconnected')
  })

  it.each([
    ['before the link was stored', true],
    ['after it', false],
  ])('not for a request that followed a logout %s', async (_, isAskedFirst) => {
    const rev = await requestQr()
    await requestUnlink(db, accountId, deviceId)
    if (!isAskedFirst) await link(rev)
    const next = await requestQr()
    if (isAskedFirst) await link(rev)
    expect(await isLinked()).toBe(false)
    expect(await statusOf()).toBe('scanning')
    await link(next)
    expect(await isLinked()).toBe(true)
  })

  it('and a phone with another number does not end a request that followed a logout', async () => {
    const rev = await requestQr()
    await requestUnlink(db, accountId, deviceId)
    const next = await requestQr()
    await refuseLink(db, fence, deviceId, {
      key: randomUUID(),
      desiredRev: rev,
      creds,
      reason: 'sender_mismatch',
    })
    expect(await statusOf()).toBe('scanning')
    await refuseLink(db, fence, deviceId, {
      key: randomUUID(),
      desiredRev: next,
      creds,
      reason: 'sender_mismatch',
    })
    expect(await statusOf()).toBe('disconnected')
  })
})

describe('the warm-up of a sender', () => {
  const setDevice = (change: Record<string, string>) =>
    db.$client`UPDATE devices SET ${db.$client(change)} WHERE id = ${deviceId}`
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  /** Days since its beginning. */
  const warmUpDays = async () =>
    Math.floor(Date.now() / 86_400_000) - ((await findDeviceStates(db, [deviceId]))[0]?.warmUpDay ?? 0)

  async function unlink(): Promise<void> {
    while (!(await wipeCredentials(db, fence, deviceId, null)));
  }

  it('begins with its first link, not when it was created', async () => {
    await setDevice({ created_at: daysAgo(50) })
    expect(await warmUpDays()).toBe(50)
    await link(await requestQr())
    expect(await warmUpDays()).toBe(0)
  })

  it('goes on with another link, unless the sender was away for 30 days', async () => {
    await link(await requestQr())
    await setDevice({ warm_up_from: daysAgo(9) })
    await unlink()
    await setDevice({ unlinked_at: daysAgo(29) })
    await link(await requestQr())
    expect(await warmUpDays()).toBe(9)
    await unlink()
    await setDevice({ unlinked_at: daysAgo(31) })
    await link(await requestQr())
    expect(await warmUpDays()).toBe(0)
  })

  it('of a link from before it was stored counts from when the sender was created', async () => {
    await link(await requestQr())
    await db.$client`UPDATE devices SET warm_up_from = NULL, created_at = ${daysAgo(99)} WHERE id = ${deviceId}`
    expect(await warmUpDays()).toBe(99)
    await unlink()
    await link(await requestQr())
    expect(await warmUpDays()).toBe(99)
  })
})

describe('a request for a restart', () => {
  const request = () => requestRestart(db, accountId, deviceId)
  const connect = (sessionRev: number) =>
    setConnection(db, fence, deviceId, { connection: 'online', reason: null, sessionRev })

  it('is joined by others until the device is online with it', async () => {
    await link(await requestQr())
    await connect(0)
    expect([await request(), await request()]).toEqual([1, 1])
    await connect(0)
    expect(await request()).toBe(1)
    await connect(1)
    await setConnection(db, fence, deviceId, { connection: 'offline', reason: null })
    expect([await request(), await request()]).toEqual([2, 2])
  })

  it('needs a linked device of the account', async () => {
    expect(await request()).toBeUndefined()
    await link(await requestQr())
    expect(await requestRestart(db, accountId + 1, deviceId)).toBeUndefined()
    await requestUnlink(db, accountId, deviceId)
    expect(await request()).toBeUndefined()
  })
})
