import { randomUUID } from 'node:crypto'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import {
  listWorkersOfOtherFormat,
  readSignalFormat,
  setSignalFormat,
} from '../src/queries/credentials/signal-format.ts'
import { createDevice } from '../src/queries/devices/devices.ts'
import {
  checkInstallation,
  claimNetwork,
  setNetwork,
  setShards,
} from '../src/queries/statements/installation.ts'
import { claimShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker, unregisterWorker } from '../src/queries/workers/workers.ts'

let server: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 2, applicationName: 'test', statementTimeoutMs: 4000 })
})

afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})

test('changes the number of shards for every device and lease, but not while a worker runs', async () => {
  const sql = db.$client
  const [account] = await sql<{ id: number }[]>`
    INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@example.com', '', 'USER', 10)
    RETURNING id`
  const addDevice = (sender: string) =>
    createDevice(db, account?.id ?? 0, { sender, name: sender, cmsId: null, cmsVer: null })
  await addDevice('15550000001')
  await addDevice('15550000002')
  const id = randomUUID()
  await registerWorker(db, { id, name: 'one', capacity: 10, leaseTtlMs: 60_000 })
  await claimShards(db, id, [1, 200])

  expect(await setShards(db, 100)).toEqual(['one'])
  await checkInstallation(db, { shards: 256, network: 'live' })

  await unregisterWorker(db, id)
  for (const shards of [100, 1000]) {
    expect(await setShards(db, shards)).toEqual([])
    await checkInstallation(db, { shards, network: 'live' })
    await addDevice(`1555000${1000 + shards}`)
    const devices = await sql<{ id: number; shard: number }[]>`SELECT id, shard FROM devices`
    for (const device of devices) expect(device.shard).toBe(device.id % shards)
    const [leases] = await sql`
      SELECT count(*)::int, min(shard), max(shard), count(owner)::int AS owned FROM shard_leases`
    expect(leases).toEqual({ count: shards, min: 0, max: shards - 1, owned: 0 })
  }
  // The epoch is kept, so that fences of former owners fail and the next owner's epoch is higher.
  const [kept] = await sql`SELECT epoch::int FROM shard_leases WHERE shard = 1`
  expect(kept).toEqual({ epoch: 1 })
})

test('the first process records the network, and a process of the other network is refused', async () => {
  const sql = db.$client
  await sql`DELETE FROM devices`
  await sql`UPDATE installation SET network = NULL, shards = 256`
  await claimNetwork(sql, 'simulator')
  await claimNetwork(sql, 'live')
  await checkInstallation(db, { shards: 256, network: 'simulator' })
  await expect(checkInstallation(db, { shards: 256, network: 'live' })).rejects.toThrow(
    'Set WHATSAPP_NETWORK to "simulator"',
  )
})

test('senders of an earlier version count as live ones until an operator changes the network', async () => {
  const sql = db.$client
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, has_credentials)
    SELECT nextval('devices_id_seq'), 0, id, '15550000009', '', true FROM accounts`
  await sql`UPDATE installation SET network = NULL, shards = 256`
  await expect(claimNetwork(sql, 'simulator')).rejects.toThrow('wagate network set simulator')
  expect(await sql`SELECT network FROM installation`).toMatchObject([{ network: null }])
  await claimNetwork(sql, 'live')
  await checkInstallation(db, { shards: 256, network: 'live' })
  await setNetwork(sql, 'simulator')
  await checkInstallation(db, { shards: 256, network: 'simulator' })
})

test('the format of Signal sessions does not change while workers run that cannot read it', async () => {
  expect(await readSignalFormat(db)).toBe(2)
  expect(await setSignalFormat(db, 1)).toEqual([])
  expect(await readSignalFormat(db)).toBe(1)
  const [older, newer] = [randomUUID(), randomUUID()]
  await registerWorker(db, { id: older, name: 'older', capacity: 1, leaseTtlMs: 60_000 })
  await registerWorker(db, { id: newer, name: 'newer', capacity: 1, signalFormat: 1, leaseTtlMs: 60_000 })
  expect(await setSignalFormat(db, 2)).toEqual(['older'])
  expect(await readSignalFormat(db)).toBe(1)
  await unregisterWorker(db, older)
  expect(await setSignalFormat(db, 2)).toEqual([])
  expect(await readSignalFormat(db)).toBe(2)
  expect(await listWorkersOfOtherFormat(db, 2)).toEqual(['newer'])
  await unregisterWorker(db, newer)
})

test('events of a restored database are in a new epoch, whatever epoch its dump had', async () => {
  const insertEvent = async () => {
    const [row] = await db.$client<{ epoch: number }[]>`
      INSERT INTO events (account_id, type) VALUES (1, 1) RETURNING epoch`
    return row?.epoch ?? 0
  }
  const first = await insertEvent()
  // A Unix time, so later than any dump.
  expect(first).toBeGreaterThan(1_700_000_000)
  expect(await insertEvent()).toBe(first)

  await db.$client`UPDATE event_clock SET started_at = started_at - interval '1 hour'`
  await db.$client`UPDATE installation SET event_epoch = 1`
  await db.$client`DELETE FROM event_epochs`
  const restored = await insertEvent()
  expect(restored).toBeGreaterThanOrEqual(first)
  await db.$client`UPDATE event_clock SET started_at = started_at - interval '1 hour'`
  const [installation] = await db.$client`SELECT event_epoch AS epoch FROM installation`
  const last = await insertEvent()
  expect(installation).toEqual({ epoch: restored })
  expect(last).toBeGreaterThan(restored)
})
