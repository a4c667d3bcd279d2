import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { setConnection } from '../src/queries/devices/device-connection.ts'
import { findPairing, requestPairing, requestUnlink } from '../src/queries/devices/device-desired-state.ts'
import { endPairing, linkDevice, setPairingStep } from '../src/queries/devices/device-link.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { openOwnedDevices } from './owned-devices.ts'

let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let accountId: number
let deviceId: number
let fence: Fence
let desiredRev: number

beforeAll(async () => {
  devices = await openOwnedDevices()
  ;({ db, accountId } = devices)
})
afterAll(() => devices.drop())

beforeEach(async () => {
  ;({ deviceId, fence } = await devices.addDevice())
  await request()
  desiredRev = (await row()).rev
})

const request = ({ force = false } = {}) =>
  requestPairing(db, accountId, deviceId, { pairingMs: 60_000, force })

async function row() {
  const [found] = await db.$client<{ rev: number; step: string | null; seconds: number | null }[]>`
    SELECT desired_rev AS rev, pairing_step AS step,
      extract(epoch FROM pairing_until - now())::float8 AS seconds
    FROM devices WHERE id = ${deviceId}`
  if (!found) throw new Error('The device is gone')
  return found
}

const setStep = (step: 'passkey_required' | 'passkey_confirmation_required' = 'passkey_required') =>
  setPairingStep(db, fence, deviceId, { desiredRev, step, forMs: 600_000 })
const shown = async () => (await findPairing(db, accountId, deviceId))?.step

describe('the passkey step of a pairing', () => {
  it('has its own time, and goes on when a QR code is requested again', async () => {
    expect(await setStep()).toBe(true)
    await request()
    const { rev, step, seconds } = await row()
    expect([rev, step, await shown()]).toEqual([desiredRev, 'passkey_required', 'passkey_required'])
    expect(seconds).toBeGreaterThan(500)
  })

  it('begins again with force', async () => {
    await setStep()
    await request({ force: true })
    const { rev, step, seconds } = await row()
    expect([rev, step, await shown()]).toEqual([desiredRev + 1, null, null])
    expect(seconds).toBeLessThan(61)
  })

  it('begins again after its time, before its owner has ended it', async () => {
    await setStep()
    await db.$client`UPDATE devices SET pairing_until = now() WHERE id = ${deviceId}`
    expect(await shown()).toBeNull()
    await request()
    expect(await row()).toMatchObject({ rev: desiredRev + 1, step: null })
    expect(await setStep('passkey_confirmation_required')).toBe(false)
  })

  it.each([
    ['a logout', () => requestUnlink(db, accountId, deviceId)],
    ['another request', () => request({ force: true })],
    ['its end', () => endPairing(db, fence, deviceId, { desiredRev, reason: null })],
  ])('does not begin after %s', async (what, happen) => {
    if (what === 'another request') await setStep()
    await happen()
    expect(await setStep('passkey_confirmation_required')).toBe(false)
    expect(await shown()).not.toBe('passkey_confirmation_required')
  })

  it('is over with the connection of its owner', async () => {
    await setStep()
    await setConnection(db, fence, deviceId, { connection: 'scanning', reason: null })
    expect(await shown()).toBeNull()
  })

  it('is over when the device is linked, and does not begin again', async () => {
    await setStep()
    await link()
    expect((await row()).step).toBeNull()
    expect(await setStep('passkey_confirmation_required')).toBe(false)
  })

  it('is set by the owner only', async () => {
    expect(
      await setPairingStep(db, { ...fence, epoch: fence.epoch - 1 }, deviceId, {
        desiredRev,
        step: 'passkey_required',
        forMs: 1000,
      }).catch(() => false),
    ).toBe(false)
    expect(await shown()).toBeNull()
  })
})

const link = () =>
  linkDevice(db, fence, deviceId, {
    key: randomUUID(),
    desiredRev,
    waJid: '1@s.whatsapp.net',
    waLid: null,
    creds: { type: 'creds', id: '', value: Buffer.from('sealed') },
  })
