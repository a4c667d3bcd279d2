import { randomUUID } from 'node:crypto'
import type { DeviceStatus, PasskeyStep } from '@wagate/shared/statuses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { createDevice, type Device, findDevice } from '../src/queries/devices/devices.ts'
import { claimShards, listUnownedShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { openAccountDatabase } from './account-database.ts'

const graceMs = 60_000
let db: Database
let drop: () => Promise<void>
let accountId: number
let senders = 0

beforeAll(async () => {
  ;({ db, accountId, drop } = await openAccountDatabase())
})
afterAll(() => drop())

type Row = {
  desired: 'linked' | 'unlinked'
  credentials: boolean
  /** link_generation and revoked_generation. */
  generations: [number, number]
  connection: 'offline' | 'connecting' | 'scanning' | 'online'
  offlineMsAgo: number | null
  pairingMsLeft: number | null
  step: PasskeyStep | null
  owner: 'live' | 'lapsed' | 'dead' | 'none'
}

const linked: Row = {
  desired: 'linked',
  credentials: true,
  generations: [1, 0],
  connection: 'online',
  offlineMsAgo: null,
  pairingMsLeft: null,
  step: null,
  owner: 'live',
}
const pairing: Row = {
  ...linked,
  credentials: false,
  generations: [0, 0],
  connection: 'scanning',
  pairingMsLeft: 60_000,
}
const passkey: Row = { ...pairing, step: 'passkey_required' }

test.each<[string, Row, DeviceStatus]>([
  ['linked and online', linked, 'connected'],
  ['offline within the grace', { ...linked, connection: 'offline', offlineMsAgo: 50_000 }, 'connected'],
  ['connecting within the grace', { ...linked, connection: 'connecting', offlineMsAgo: 50_000 }, 'connected'],
  ['offline beyond the grace', { ...linked, connection: 'offline', offlineMsAgo: 61_000 }, 'disconnected'],
  ['offline without a time', { ...linked, connection: 'offline' }, 'disconnected'],
  ['online by an owner whose lease lapsed', { ...linked, owner: 'lapsed' }, 'disconnected'],
  ['online by a dead owner', { ...linked, owner: 'dead' }, 'disconnected'],
  ['online without an owner', { ...linked, owner: 'none' }, 'disconnected'],
  [
    'to be logged out, but still online',
    { ...linked, desired: 'unlinked', generations: [1, 1] },
    'disconnected',
  ],
  ['to be logged out, not yet revoked', { ...linked, desired: 'unlinked' }, 'disconnected'],
  ['waiting for a QR code', pairing, 'scanning'],
  ['waiting for a QR code without an owner', { ...pairing, owner: 'none' }, 'scanning'],
  ['waiting for a QR code past its time', { ...pairing, pairingMsLeft: -1 }, 'disconnected'],
  ['asked for a passkey', passkey, 'passkey_required'],
  [
    'asked to compare the codes',
    { ...passkey, step: 'passkey_confirmation_required' },
    'passkey_confirmation_required',
  ],
  ['asked for a passkey through an owner that died', { ...passkey, owner: 'dead' }, 'scanning'],
  ['asked for a passkey, and logged out', { ...passkey, desired: 'unlinked' }, 'disconnected'],
  ['never paired', { ...pairing, pairingMsLeft: null, desired: 'unlinked' }, 'disconnected'],
  ['logged out while waiting for a QR code', { ...pairing, desired: 'unlinked' }, 'disconnected'],
  ['logged out by WhatsApp', { ...linked, credentials: false }, 'disconnected'],
  [
    'pairing by force, the old link still online',
    { ...linked, generations: [1, 1], pairingMsLeft: 60_000 },
    'scanning',
  ],
  ['revoked, and the pairing ended', { ...linked, generations: [1, 1], pairingMsLeft: -1 }, 'disconnected'],
  ['linked again after a logout', { ...linked, generations: [2, 1] }, 'connected'],
])('%s', async (_, row, expected) => {
  expect((await deviceOf(row))?.status).toBe(expected)
})

test('a pairing past its time is the reason before its owner says so, and no reason of a linked device', async () => {
  const reasonOf = async (row: Row) => (await deviceOf(row))?.statusReason
  expect(await reasonOf(pairing)).toBeNull()
  expect(await reasonOf({ ...pairing, pairingMsLeft: -1 })).toBe('qr_expired')
  expect(await reasonOf({ ...passkey, pairingMsLeft: -1 })).toBe('passkey_expired')
  expect(await reasonOf({ ...pairing, pairingMsLeft: -1, desired: 'unlinked' })).toBeNull()
  expect(await reasonOf({ ...linked, pairingMsLeft: -1 })).toBeNull()
})

async function deviceOf(row: Row): Promise<Device | undefined> {
  const sender = String(4_915_100_000_000 + senders++)
  await createDevice(db, accountId, { sender, name: sender, cmsId: null, cmsVer: null })
  const [linkGeneration, revokedGeneration] = row.generations
  const [device] = await db.$client<{ shard: number }[]>`
    UPDATE devices SET desired = ${row.desired}, has_credentials = ${row.credentials}, connection = ${row.connection},
      link_generation = ${linkGeneration}, revoked_generation = ${revokedGeneration},
      offline_since = now() - ${row.offlineMsAgo}::int * interval '1 ms',
      pairing_step = ${row.step},
      pairing_until = now() + ${row.pairingMsLeft}::int * interval '1 ms'
    WHERE account_id = ${accountId} AND sender = ${sender}
    RETURNING shard`
  await ownShard(device?.shard ?? 0, row.owner)
  return findDevice(db, accountId, { sender }, graceMs)
}

async function ownShard(shard: number, owner: Row['owner']): Promise<void> {
  await db.$client`UPDATE shard_leases SET owner = NULL WHERE shard = ${shard}`
  if (owner === 'none') return
  const id = randomUUID()
  await registerWorker(db, { id, name: id, capacity: 1, leaseTtlMs: 60_000 })
  expect((await listUnownedShards(db)).map((unowned) => unowned.shard)).toContain(shard)
  await claimShards(db, id, [shard])
  if (owner === 'lapsed') await db.$client`UPDATE workers SET lease_until = now() WHERE id = ${id}`
  if (owner === 'dead') await db.$client`UPDATE workers SET state = 'dead' WHERE id = ${id}`
}
