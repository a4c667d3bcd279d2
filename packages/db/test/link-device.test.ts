import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { findPairing, requestPairing, requestUnlink } from '../src/queries/device-desired-state.ts'
import { linkDevice, refuseLink } from '../src/queries/device-link.ts'
import { createDevice, findDevice } from '../src/queries/devices.ts'
import type { Fence } from '../src/queries/fence.ts'
import { claimShards, listUnownedShards } from '../src/queries/shard-leases.ts'
import { registerWorker } from '../src/queries/workers.ts'
import { openAccountDatabase } from './account-database.ts'

const creds = { type: 'creds', id: '', value: Buffer.from('sealed') }
let db: Database
let drop: () => Promise<void>
let accountId: number
let fences: Map<number, Fence>
let deviceId: number
let fence: Fence
let senders = 0

beforeAll(async () => {
  ;({ db, accountId, drop } = await openAccountDatabase())
  const id = randomUUID()
  await registerWorker(db, { id, name: id, capacity: 1000, leaseTtlMs: 60_000 })
  const shards = (await listUnownedShards(db)).map(({ shard }) => shard)
  const leases = await claimShards(db, id, shards)
  fences = new Map(leases.map((lease) => [lease.shard, { ...lease, workerId: id }]))
})
afterAll(() => drop())

beforeEach(async () => {
  const sender = String(4_915_100_000_000 + senders++)
  await createDevice(db, accountId, { sender, name: sender, cmsId: null, cmsVer: null })
  const [device] = await db.$client<{ id: number; shard: number }[]>`
    SELECT id, shard FROM devices WHERE account_id = ${accountId} AND sender = ${sender}`
  deviceId = device?.id ?? 0
  const owned = fences.get(device?.shard ?? -1)
  if (!owned) throw new Error('The shard has no owner')
  fence = owned
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
