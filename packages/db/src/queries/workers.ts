import type { Database } from '../client.ts'

export type NewWorker = { id: string; name: string; capacity: number; leaseTtlMs: number }

/**
 * A process that starts under the name of an earlier, not dead worker marks that one dead at once: its
 * shards need not wait for the end of its lease. Throws when two start under one name at the same moment.
 */
export async function registerWorker(db: Database, worker: NewWorker): Promise<void> {
  // The INSERT reads the count, so that the unique name is free before it is taken again.
  await db.$client`
    WITH replaced AS (
      UPDATE workers SET state = 'dead' WHERE name = ${worker.name} AND state <> 'dead' RETURNING id
    )
    INSERT INTO workers (id, name, state, capacity, lease_until)
    SELECT ${worker.id}, ${worker.name}, 'live', ${worker.capacity}, now() + ${worker.leaseTtlMs} * interval '1 ms'
    FROM (SELECT count(*) FROM replaced) AS done`
}

/**
 * For a process that was marked dead and goes on under a fresh id. Where another process has its name by now,
 * it adds its id: two that replaced each other would do so for ever. Returns the name it got.
 */
export async function registerWorkerAgain(db: Database, worker: NewWorker): Promise<string> {
  const [row] = await db.$client<{ name: string }[]>`
    INSERT INTO workers (id, name, state, capacity, lease_until)
    SELECT
      ${worker.id}::uuid,
      CASE WHEN EXISTS (SELECT FROM workers WHERE name = ${worker.name} AND state <> 'dead')
        THEN ${`${worker.name} ${worker.id.slice(0, 8)}`} ELSE ${worker.name} END,
      'live', ${worker.capacity}, now() + ${worker.leaseTtlMs} * interval '1 ms'
    RETURNING name`
  return row?.name ?? worker.name
}

/** False once the worker is marked dead: that is final, its shards may have other owners. */
export async function renewWorker(db: Database, id: string, leaseTtlMs: number): Promise<boolean> {
  const rows = await db.$client`
    UPDATE workers
    SET lease_until = now() + ${leaseTtlMs} * interval '1 ms',
        renewed_since = CASE WHEN lease_until < now() THEN now() ELSE renewed_since END
    WHERE id = ${id} AND state <> 'dead'
    RETURNING id`
  return rows.length > 0
}

/**
 * Marks workers past their lease dead, and returns them. Only a worker that renewed its own lease without a
 * gap for one full TTL may do so: after an outage of Postgres everybody renews first.
 */
export async function markLapsedWorkersDead(
  db: Database,
  reaper: { id: string; leaseTtlMs: number },
): Promise<{ id: string; name: string }[]> {
  return await db.$client<{ id: string; name: string }[]>`
    WITH lapsed AS MATERIALIZED (
      SELECT id FROM workers
      WHERE state <> 'dead' AND lease_until < now() AND EXISTS (
        SELECT FROM workers AS reaper
        WHERE reaper.id = ${reaper.id} AND reaper.state = 'live' AND reaper.lease_until >= now()
          AND reaper.renewed_since <= now() - ${reaper.leaseTtlMs} * interval '1 ms'
      )
      FOR UPDATE SKIP LOCKED
    )
    UPDATE workers SET state = 'dead' FROM lapsed WHERE workers.id = lapsed.id
    RETURNING workers.id, workers.name`
}

export type LiveWorker = { id: string; capacity: number; owned: number }

/** With the number of shards each owns; those that started earlier come first. */
export async function listLiveWorkers(db: Database): Promise<LiveWorker[]> {
  return await db.$client<LiveWorker[]>`
    SELECT worker.id, worker.capacity, count(lease.shard)::int AS owned
    FROM workers AS worker LEFT JOIN shard_leases AS lease ON lease.owner = worker.id
    WHERE worker.state = 'live'
    GROUP BY worker.id
    ORDER BY worker.started_at, worker.id`
}

/** A draining worker claims nothing and counts in nobody's share; it owns its shards until it releases them. */
export async function markWorkerDraining(db: Database, id: string): Promise<void> {
  await db.$client`UPDATE workers SET state = 'draining' WHERE id = ${id} AND state = 'live'`
}

/** The row stays for a day: it may still be an owner, and `deleteDeadWorkers` knows when it is not. */
export async function unregisterWorker(db: Database, id: string): Promise<void> {
  await db.$client`UPDATE workers SET state = 'dead' WHERE id = ${id}`
}

/** Those that died more than a day ago and own nothing. */
export async function deleteDeadWorkers(db: Database): Promise<void> {
  await db.$client`
    DELETE FROM workers
    WHERE state = 'dead' AND lease_until < now() - interval '1 day'
      AND NOT EXISTS (SELECT FROM shard_leases WHERE owner = workers.id)`
}
