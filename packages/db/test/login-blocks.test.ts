import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { setConnection } from '../src/queries/devices/device-connection.ts'
import { linkDevice, refuseLink } from '../src/queries/devices/device-link.ts'
import {
  claimDevices,
  type DeviceState,
  findDeviceStates,
  releaseDevices,
} from '../src/queries/devices/device-owner-view.ts'
import { wipeCredentials } from '../src/queries/devices/device-removal.ts'
import { findDevice } from '../src/queries/devices/devices.ts'
import { type Fence, OwnershipLost } from '../src/queries/statements/fence.ts'
import { openOwnedDevices } from './owned-devices.ts'

const creds = { type: 'creds', id: '', value: Buffer.from('sealed') }
const hourMs = 3_600_000
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
  await db.$client`UPDATE devices SET desired = 'linked', desired_rev = 3 WHERE id = ${deviceId}`
  await linkDevice(db, fence, deviceId, {
    key: randomUUID(),
    desiredRev: 3,
    waJid: '1@s.whatsapp.net',
    waLid: null,
    creds,
  })
})

const ban = { forMs: hourMs, rev: null, version: null }
const lock = { forMs: null, rev: 3, version: null }
const outdated = { forMs: hourMs, rev: 3, version: '2.3000.1' }

const refuse = (block: typeof ban | typeof lock | typeof outdated, reason = 'temporarily_banned') =>
  setConnection(db, fence, deviceId, {
    connection: 'offline',
    reason,
    detail: 'groups',
    hasGrace: false,
    block,
  })

async function stateOf(): Promise<DeviceState> {
  const [state] = await findDeviceStates(db, [deviceId])
  if (!state) throw new Error('The device is gone')
  return state
}

const noBlock = { blockLeftMs: null, blockRev: null, blockVersion: null }

describe('a block of the logins', () => {
  it.each([
    ['a ban', ban, { ...noBlock, blockLeftMs: expect.any(Number) }],
    ['a lock', lock, { ...noBlock, blockRev: 3 }],
    [
      'an outdated client',
      outdated,
      { blockLeftMs: expect.any(Number), blockRev: 3, blockVersion: '2.3000.1' },
    ],
  ])('is known to the next owner: %s', async (_, block, expected) => {
    await refuse(block)
    await releaseDevices(db, [fence])
    expect(await claimDevices(db, [fence])).toContainEqual(expect.objectContaining({ id: deviceId }))
    const state = await stateOf()
    expect(state).toMatchObject({ ...expected, statusReason: 'temporarily_banned', isLinked: true })
    expect(state.blockLeftMs ?? hourMs).toBeLessThanOrEqual(hourMs)
    expect(state.blockLeftMs ?? hourMs).toBeGreaterThan(0)
    expect(await findDevice(db, accountId, { deviceId }, 60_000)).toMatchObject({
      status: 'disconnected',
      statusReason: 'temporarily_banned',
      statusDetail: 'groups',
    })
  })

  it('is over when its time has passed by the clock of Postgres', async () => {
    await refuse(ban)
    await db.$client`UPDATE devices SET login_after = now() - interval '1 s' WHERE id = ${deviceId}`
    expect((await stateOf()).blockLeftMs).toBeLessThanOrEqual(-1000)
  })

  it('is not written by a former owner', async () => {
    const former = { ...fence, epoch: fence.epoch - 1 }
    await expect(
      setConnection(db, former, deviceId, { connection: 'offline', reason: 'x', block: lock }),
    ).rejects.toThrow(OwnershipLost)
    expect(await stateOf()).toMatchObject(noBlock)
  })

  it.each([
    ['a login that opens', () => setConnection(db, fence, deviceId, { connection: 'online', reason: null })],
    [
      'a new link',
      () =>
        linkDevice(db, fence, deviceId, {
          key: randomUUID(),
          desiredRev: 3,
          waJid: '1@s.whatsapp.net',
          waLid: null,
          creds,
        }),
    ],
    [
      'a scan by another phone, whose link has to be undone',
      () =>
        refuseLink(db, fence, deviceId, {
          key: randomUUID(),
          desiredRev: 3,
          creds,
          reason: 'sender_mismatch',
        }),
    ],
  ])('ends with %s', async (_, end) => {
    await refuse(outdated)
    await end()
    expect(await stateOf()).toMatchObject(noBlock)
    expect(await findDevice(db, accountId, { deviceId }, 60_000)).toMatchObject({
      statusDetail: null,
      loginAfter: null,
    })
  })

  it('is still shown when the credentials of a banned number are wiped', async () => {
    await refuse(ban)
    expect(await wipeCredentials(db, fence, deviceId, null)).toBe(true)
    expect(await findDevice(db, accountId, { deviceId }, 60_000)).toMatchObject({
      statusReason: 'temporarily_banned',
      statusDetail: 'groups',
      loginAfter: expect.any(Date),
    })
  })
})
