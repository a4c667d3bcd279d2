import type { Database } from '../client.ts'

export type NewWorker = {
  id: string
  name: string
  capacity: number
  /** By which it encrypts; absent when it encrypts nothing. */
  masterKeyId?: string | null
  leaseTtlMs: number
}

/** The connection that asks: what `markGoneWorkersDead` knows a living process by. */
const session = (sql: Database['$client']) => sql`
  pg_backend_pid(), (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())),
  current_setting('application_name')`

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
    INSERT INTO workers (id, name, state, capacity, master_key_id, lease_until, session_pid, session_since, session_name)
    SELECT ${worker.id}, ${worker.name}, 'live', ${worker.capacity}, ${worker.masterKeyId ?? null},
      now() + ${worker.leaseTtlMs} * interval '1 ms', ${session(db.$client)}
    FROM (SELECT count(*) FROM replaced) AS done`
}

/**
 * For a process that was marked dead and goes on under a fresh id. Where another process has its name by now,
 * it adds its id: two that replaced each other would do so for ever. Returns the name it got.
 */
export async function registerWorkerAgain(db: Database, worker: NewWorker): Promise<string> {
  const [row] = await db.$client<{ name: string }[]>`
    INSERT INTO workers (id, name, state, capacity, master_key_id, lease_until, session_pid, session_since, session_name)
    SELECT
      ${worker.id}::uuid,
      CASE WHEN EXISTS (SELECT FROM workers WHERE name = ${worker.name} AND state <> 'dead')
        THEN ${`${worker.name} ${worker.id.slice(0, 8)}`} ELSE ${worker.name} END,
      'live', ${worker.capacity}, ${worker.masterKeyId ?? null},
      now() + ${worker.leaseTtlMs} * interval '1 ms', ${session(db.$client)}
    RETURNING name`
  return row?.name ?? worker.name
}

/** False once the worker is marked dead: that is final, its shards may have other owners. */
export async function renewWorker(db: Database, id: string, leaseTtlMs: number): Promise<boolean> {
  const rows = await db.$client`
    UPDATE workers
    SET lease_until = now() + ${leaseTtlMs} * interval '1 ms', renewed_at = now(),
        (session_pid, session_since, session_name) = (SELECT ${session(db.$client)}),
        renewed_since = CASE WHEN lease_until < now() THEN now() ELSE least(renewed_since, now()) END
    WHERE id = ${id} AND state <> 'dead'
    RETURNING id`
  return rows.length > 0
}

/** A statement that started a moment later than another may be stored before it. */
const clockSlackMs = 1000

/** `silentMs`: more than the time between two heartbeats. */
export type Patience = { leaseTtlMs: number; silentMs: number }

/**
 * Marks workers dead that are past their lease, or silent and whose process has ended: with a killed process go all
 * its connections, also the one that renewed its lease. Only a worker that renewed its own lease without a gap for
 * one full TTL may do so, or everybody would kill each other after an outage of Postgres; and only one whose own
 * connection is older than the other's last renewal takes the end of that one for a death, because what ended both
 * was not the process.
 *
 * A renewal from the future shows that the clock of Postgres was set back. It counts as one from now, or a worker that
 * died before would be taken for a living one until that future comes.
 */
export async function markGoneWorkersDead(
  db: Database,
  reaper: { id: string } & Patience,
): Promise<{ id: string; name: string; isPastLease: boolean }[]> {
  const sql = db.$client
  return await sql<{ id: string; name: string; isPastLease: boolean }[]>`
    WITH reaper AS (
      SELECT * FROM workers
      WHERE id = ${reaper.id} AND state = 'live' AND lease_until >= now()
        AND renewed_since <= now() - ${reaper.leaseTtlMs} * interval '1 ms'
    ),
    gone AS MATERIALIZED (
      SELECT worker.id, worker.lease_until < now() AS is_past_lease
      FROM workers AS worker, reaper
      WHERE worker.state <> 'dead' AND (
        worker.lease_until < now()
        OR (
          worker.renewed_at < now() - ${reaper.silentMs} * interval '1 ms'
          AND reaper.session_since < worker.renewed_at
          AND ${hasSession(sql, 'reaper')} AND NOT ${hasSession(sql, 'worker')}
          AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = worker.session_name)
        )
      )
      FOR UPDATE OF worker SKIP LOCKED
    ),
    from_future AS MATERIALIZED (
      SELECT id FROM workers WHERE state <> 'dead' AND renewed_at > now() + ${clockSlackMs} * interval '1 ms'
      ORDER BY id FOR UPDATE SKIP LOCKED
    ),
    pulled_back AS (
      UPDATE workers SET renewed_at = now(), lease_until = now() + (lease_until - renewed_at)
      FROM from_future WHERE workers.id = from_future.id
    )
    UPDATE workers SET state = 'dead' FROM gone WHERE workers.id = gone.id
    RETURNING workers.id, workers.name, gone.is_past_lease AS "isPastLease"`
}

/** A start time that may not be seen is taken for the right one: at worst the lease decides. */
const hasSession = (sql: Database['$client'], worker: string) => sql`EXISTS (
  SELECT FROM pg_stat_get_activity(${sql(worker)}.session_pid) AS session
  WHERE coalesce(session.backend_start = ${sql(worker)}.session_since, true))`

export type LiveWorker = {
  id: string
  capacity: number
  owned: number
  /** When it may next be marked dead, unless it renews its lease before. Null: at once. */
  deathInMs: number | null
}

/** With the number of shards each owns; those that started earlier come first. */
export async function listLiveWorkers(db: Database, patience: Patience): Promise<LiveWorker[]> {
  const { leaseTtlMs, silentMs } = patience
  return await db.$client<LiveWorker[]>`
    WITH live AS (
      SELECT *, (extract(epoch FROM now() - renewed_at) * 1000)::float8 AS silent_ms
      FROM workers WHERE state = 'live'
    )
    SELECT live.id, live.capacity, coalesce(lease.owned, 0)::int AS owned,
      CASE
        WHEN silent_ms <= ${silentMs} THEN ${silentMs} - silent_ms
        WHEN silent_ms <= ${leaseTtlMs} THEN ${leaseTtlMs} - silent_ms
      END AS "deathInMs"
    FROM live
    LEFT JOIN (SELECT owner, count(*) AS owned FROM shard_leases GROUP BY owner) AS lease ON lease.owner = live.id
    ORDER BY live.started_at, live.id`
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
