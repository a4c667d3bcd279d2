import type { Database } from '../../client.ts'
import { rows } from '../statements/rows.ts'
import { isSharing, isWithinLease } from '../statements/worker-state.ts'

export type OwnedShard = { shard: number; epoch: number }
/** `linked`: devices with credentials. */
export type UnownedShard = { shard: number; linked: number }

/** An owner may die before it has claimed what the owners before it died with, but hardly so many in a row. */
const deathsKept = 32

/**
 * Frees the shards of dead workers and returns their number. A shard for which a write still runs is left for the next
 * call.
 */
export async function freeShardsOfDeadWorkers(db: Database): Promise<number> {
  // Compares with dead workers, not with live ones. Postgres checks a row that has changed since the statement began
  // against the workers of that time, so a worker that started later would not be among the live ones.
  const freed = await db.$client`
    WITH freed AS MATERIALIZED (
      SELECT shard FROM shard_leases
      WHERE owner IN (SELECT id FROM workers WHERE state = 'dead')
      ORDER BY shard
      FOR UPDATE SKIP LOCKED
    )
    UPDATE shard_leases AS lease SET owner = NULL, died_epoch = lease.epoch,
      died_epochs = (lease.epoch || lease.died_epochs)[1:${deathsKept}]
    FROM freed WHERE lease.shard = freed.shard
    RETURNING lease.shard`
  return freed.length
}

/** As `describeShards` does: one text costs a worker that compares it a hundredth of what a thousand rows do. */
export async function describeShardsOwnedBy(db: Database, owner: string): Promise<string> {
  const [row] = await db.$client<[{ owned: string }]>`
    SELECT coalesce(string_agg(shard || ':' || epoch, ' ' ORDER BY shard), '') AS owned
    FROM shard_leases WHERE owner = ${owner}`
  return row.owned
}

/** Equal for equal shards with equal epochs. */
export function describeShards(owned: OwnedShard[]): string {
  return owned
    .toSorted((a, b) => a.shard - b.shard)
    .map(({ shard, epoch }) => `${shard}:${epoch}`)
    .join(' ')
}

export function parseShards(description: string): OwnedShard[] {
  if (description === '') return []
  return description.split(' ').map((text) => {
    const [shard, epoch] = text.split(':').map(Number)
    return { shard: shard ?? Number.NaN, epoch: epoch ?? Number.NaN }
  })
}

export async function listUnownedShards(db: Database): Promise<UnownedShard[]> {
  return await db.$client<UnownedShard[]>`
    SELECT lease.shard, count(device.id)::int AS linked
    FROM shard_leases AS lease
    LEFT JOIN devices AS device ON device.shard = lease.shard AND device.has_credentials
    WHERE lease.owner IS NULL
    GROUP BY lease.shard`
}

/**
 * Claims those of `shards` that have no owner and that no other worker is claiming, and returns them with their new
 * epochs. A worker that is draining, dead or past its lease gets none.
 */
export async function claimShards(db: Database, owner: string, shards: number[]): Promise<OwnedShard[]> {
  // The locking query reads only shard_leases: joined with workers, it claimed shards twice under contention.
  const sql = db.$client
  return await sql<OwnedShard[]>`
    WITH free AS MATERIALIZED (
      SELECT shard FROM shard_leases
      WHERE shard = ANY(${shards}::int[]) AND owner IS NULL
      ORDER BY shard
      FOR UPDATE SKIP LOCKED
    )
    UPDATE shard_leases AS lease SET owner = ${owner}, epoch = lease.epoch + 1
    FROM free
    WHERE lease.shard = free.shard
      AND EXISTS (SELECT FROM workers
        WHERE id = ${owner} AND ${sql.unsafe(isSharing('workers'))} AND ${sql.unsafe(isWithinLease('workers'))})
    RETURNING lease.shard, lease.epoch::float8 AS epoch`
}

/** Releases the shards that this worker still owns with these epochs. Waits for running fenced writes. */
export async function releaseShards(db: Database, owner: string, owned: OwnedShard[]): Promise<void> {
  const sql = db.$client
  await sql`
    WITH released AS MATERIALIZED (
      SELECT lease.shard
      FROM shard_leases AS lease
      JOIN ${rows(sql, 'given', owned, {
        shard: ['int', ({ shard }) => shard],
        epoch: ['bigint', ({ epoch }) => epoch],
      })} USING (shard, epoch)
      WHERE lease.owner = ${owner}
      ORDER BY lease.shard
      FOR UPDATE OF lease
    )
    UPDATE shard_leases AS lease SET owner = NULL FROM released WHERE lease.shard = released.shard`
}

/** A device that went offline less than this time ago is waiting for its turn to log in. */
export const openingMs = 10_000

/**
 * Devices with credentials by the owner of their shard. `opening`: those within `openingMs`. A device that has been offline
 * for longer is not waiting for its turn to log in.
 */
export async function countLinkedDevicesByOwner(db: Database): Promise<LinkedDevices[]> {
  return await db.$client<LinkedDevices[]>`
    SELECT lease.owner, count(*)::int AS linked,
      (count(*) FILTER (WHERE ${isOpening(db)}))::int AS opening
    FROM devices AS device JOIN shard_leases AS lease ON lease.shard = device.shard
    WHERE device.has_credentials AND lease.owner IS NOT NULL
    GROUP BY lease.owner`
}

/** Counts devices with credentials only. */
export async function countOpeningDevices(db: Database, shards: number[]): Promise<number> {
  const [row] = await db.$client<[{ opening: number }]>`
    SELECT count(*)::int AS opening FROM devices AS device
    WHERE device.shard = ANY(${shards}::int[]) AND device.has_credentials AND ${isOpening(db)}`
  return row.opening
}

const isOpening = (db: Database) => db.$client`
  device.offline_since > now() - ${openingMs} * interval '1 ms'`

type LinkedDevices = { owner: string; linked: number; opening: number }
