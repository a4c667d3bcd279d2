import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { announceDisconnections, setConnection } from '../src/queries/devices/device-connection.ts'
import { requestPairing, requestRemoval, requestUnlink } from '../src/queries/devices/device-desired-state.ts'
import {
  announcePairingCode,
  endPairing,
  linkDevice,
  refuseLink,
  setPairingStep,
} from '../src/queries/devices/device-link.ts'
import { claimDevices } from '../src/queries/devices/device-owner-view.ts'
import { wipeCredentials } from '../src/queries/devices/device-removal.ts'
import { setRestriction } from '../src/queries/devices/device-restriction.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { listDeviceEvents } from './device-events.ts'
import { openOwnedDevices } from './owned-devices.ts'

const creds = { type: 'creds', id: '', value: Buffer.from('sealed') }
const graceMs = 60_000
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

const events = () => listDeviceEvents(db, deviceId)
const request = (force = false) => requestPairing(db, accountId, deviceId, { pairingMs: 60_000, force })
const showQr = () => setConnection(db, fence, deviceId, { connection: 'scanning', reason: null })
const online = () => setConnection(db, fence, deviceId, { connection: 'online', reason: null })
const offline = (reason: string, hasGrace = true) =>
  setConnection(db, fence, deviceId, { connection: 'offline', reason, hasGrace })
const announce = (ms = graceMs) => announceDisconnections(db, [fence], ms)
const endGrace = () => db.$client`
  UPDATE devices SET offline_since = now() - interval '61 s' WHERE id = ${deviceId}`

async function desiredRev(): Promise<number> {
  const [row] = await db.$client<{ rev: number }[]>`
    SELECT desired_rev AS rev FROM devices WHERE id = ${deviceId}`
  return row?.rev ?? -1
}

async function link(): Promise<void> {
  await request()
  const scanned = {
    key: randomUUID(),
    desiredRev: await desiredRev(),
    waJid: '1@s.whatsapp.net',
    waLid: null,
    creds,
  }
  await linkDevice(db, fence, deviceId, scanned)
}

describe('a connection', () => {
  it('has an event when its login is complete, and none for what stays within the grace', async () => {
    await link()
    expect(await events()).toEqual([])
    await online()
    await offline('connection_lost')
    await announce()
    await offline('connection_lost')
    await online()
    await online()
    expect(await events()).toEqual(['connected'])
  })

  it('that does not come back has one event when the grace is over, and one when it is back', async () => {
    await link()
    await online()
    await offline('connection_lost')
    await endGrace()
    expect(await announce()).toBe(1)
    expect(await announce()).toBe(0)
    await offline('connection_lost')
    await online()
    expect(await events()).toEqual(['connected', 'disconnected connection_lost', 'connected'])
  })

  it('without a grace has its event at once, and another one for another reason', async () => {
    await link()
    await online()
    await offline('temporarily_banned', false)
    await offline('temporarily_banned', false)
    await offline('connection_lost')
    await announce(0)
    expect(await events()).toEqual([
      'connected',
      'disconnected temporarily_banned',
      'disconnected connection_lost',
    ])
  })

  it('has an event with what the device says then', async () => {
    await link()
    const block = { forMs: 3_600_000, rev: null, version: null }
    const refused = { connection: 'offline', reason: 'temporarily_banned', detail: 'groups' } as const
    await setConnection(db, fence, deviceId, { ...refused, hasGrace: false, block })
    const [event] = await db.$client<{ data: { login_after: string } }[]>`
      SELECT data FROM events WHERE device_id = ${deviceId}`
    const login_after = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(event?.data).toEqual({ reason: 'temporarily_banned', detail: 'groups', login_after })
    expect(Date.parse(event?.data.login_after ?? '')).toBeGreaterThan(Date.now() + 3_500_000)
  })

  it('of a device whose owner died has an event only after the grace of the next owner', async () => {
    await link()
    await online()
    await claimDevices(db, [fence])
    await announce()
    expect(await events()).toEqual(['connected'])
    await endGrace()
    await announce()
    expect(await events()).toEqual(['connected', 'disconnected connection_lost'])
  })

  it('that exists only to log out has none', async () => {
    await link()
    await online()
    await requestUnlink(db, accountId, deviceId)
    await offline('connection_lost', false)
    await online()
    await announce(0)
    expect(await events()).toEqual(['connected', 'unlinked logout_requested'])
  })
})

describe('a pairing', () => {
  it('has one event of its QR codes, and one of its end without a scan', async () => {
    await request()
    for (let code = 0; code < 3; code++) await showQr()
    await request()
    await endPairing(db, fence, deviceId, { desiredRev: await desiredRev(), reason: 'qr_expired' })
    expect(await events()).toEqual(['qr', 'disconnected qr_expired'])
    await request()
    await showQr()
    expect((await events()).slice(2)).toEqual(['qr'])
  })

  it('has another event of its QR code if the earlier one ended without its owner', async () => {
    await request()
    await showQr()
    await db.$client`UPDATE devices SET pairing_until = now() WHERE id = ${deviceId}`
    await request()
    await showQr()
    expect(await events()).toEqual(['qr', 'qr'])
  })

  it('that was withdrawn has no event of a late QR code', async () => {
    await request()
    await requestUnlink(db, accountId, deviceId)
    await showQr()
    expect(await events()).toEqual([])
  })

  it('has an event of each step of a passkey, and of a pairing code', async () => {
    await request()
    await showQr()
    const countKeys = async () => (await db.$client`SELECT FROM write_keys`).count
    const keysBefore = await countKeys()
    await announcePairingCode(db, fence, deviceId, 160_000)
    // Nothing repeats it.
    expect(await countKeys()).toBe(keysBefore)
    const rev = await desiredRev()
    for (const step of ['passkey_required', 'passkey_required', 'passkey_confirmation_required'] as const)
      await setPairingStep(db, fence, deviceId, { desiredRev: rev, step, forMs: 1000 })
    const former = { ...fence, epoch: fence.epoch - 1 }
    await setPairingStep(db, former, deviceId, { desiredRev: rev, step: 'passkey_required', forMs: 1000 })
    await setPairingStep(db, fence, deviceId, { desiredRev: rev - 1, step: 'passkey_required', forMs: 1 })
    expect(await events()).toEqual([
      'qr',
      'pairing_code',
      'passkey_required passkey_required',
      'passkey_required passkey_confirmation_required',
    ])
  })
})

describe('the end of a link', () => {
  it.each([
    ['logout_requested', () => requestUnlink(db, accountId, deviceId)],
    ['pairing_requested', () => request(true)],
    ['device_deleted', () => requestRemoval(db, accountId, deviceId)],
  ])('has one event: %s', async (reason, end) => {
    await link()
    await end()
    await requestUnlink(db, accountId, deviceId)
    await wipeCredentials(db, fence, deviceId, null)
    expect(await events()).toEqual([`unlinked ${reason}`])
  })

  it('on the phone has one event', async () => {
    await link()
    await online()
    await wipeCredentials(db, fence, deviceId, 'logged_out')
    await wipeCredentials(db, fence, deviceId, 'logged_out')
    expect(await events()).toEqual(['connected', 'unlinked logged_out'])
  })

  it('of a phone with another number has an event, unless it was called off', async () => {
    await request()
    const refused = { key: randomUUID(), desiredRev: await desiredRev(), creds, reason: 'sender_mismatch' }
    await refuseLink(db, fence, deviceId, {
      ...refused,
      key: randomUUID(),
      desiredRev: refused.desiredRev - 1,
    })
    expect(await events()).toEqual([])
    await refuseLink(db, fence, deviceId, refused)
    expect(await events()).toEqual(['unlinked sender_mismatch'])
  })

  it('has none for a device that another account names', async () => {
    await link()
    await requestUnlink(db, accountId + 1, deviceId)
    expect(await requestRemoval(db, accountId + 1, deviceId)).toBe(false)
    expect(await events()).toEqual([])
  })
})

describe('a former owner leaves no event', () => {
  const former = () => ({ ...fence, epoch: fence.epoch - 1 })
  it.each<[string, () => Promise<unknown>]>([
    ['a login', () => setConnection(db, former(), deviceId, { connection: 'online', reason: null })],
    ['a lost connection', () => announceDisconnections(db, [former()], 0)],
    ['an unlinked phone', () => wipeCredentials(db, former(), deviceId, 'logged_out')],
    ['a restriction', () => setRestriction(db, former(), deviceId, { reason: 'unconfirmed', forMs: 1000 })],
    ['a pairing code', () => announcePairingCode(db, former(), deviceId, 1000)],
  ])('of %s', async (_, write) => {
    await link()
    await write().catch(() => undefined)
    expect(await events()).toEqual([])
  })
})
