import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { findPairing, requestPairing, requestUnlink } from '../src/queries/device-desired-state.ts'
import { linkDevice, refuseLink } from '../src/queries/device-link.ts'
import { findDevice } from '../src/queries/devices.ts'
import type { Fence } from '../src/queries/fence.ts'
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
  linkDevice(db, fence, deviceId, { desiredRev, waJid: '1@s.whatsapp.net', waLid: null, creds })

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
    await refuseLink(db, fence, deviceId, { desiredRev: rev, creds, reason: 'sender_mismatch' })
    expect(await statusOf()).toBe('scanning')
    await refuseLink(db, fence, deviceId, { desiredRev: next, creds, reason: 'sender_mismatch' })
    expect(await statusOf()).toBe('disconnected')
  })
})
