import type { Database } from '../../client.ts'
import type { SignalFormat } from '../credentials/signal-format.ts'
import { isNotDead, isSharing } from '../statements/worker-state.ts'

export type NewWorker = {
  id: string
  name: string
  capacity: number
  /** The key by which it encrypts. Absent when it encrypts nothing. */
  masterKeyId?: string | null
  /** In which it writes Signal sessions. Absent when it writes none. */
  signalFormat?: SignalFormat | null
  leaseTtlMs: number
}

/** The connection of this statement, by which `markGoneWorkersDead` recognises a running process. */
const session = (sql: Database['$client']) => sql`
  pg_backend_pid(), (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())),
  current_setting('application_name')`

const columns = (sql: Database['$client']) => sql`
  id, name, state, capacity, master_key_id, signal_format, lease_until, session_pid, session_since, session_name`

/**
 * Replaces a worker of the same name, which is marked dead at once: its shards need not wait for the end of its lease.
 * Throws when two workers of one name start at the same time.
 */
export async function registerWorker(db: Database, worker: NewWorker): Promise<void> {
  const sql = db.$client
  // The INSERT reads the count, so that the unique name is free before it is used again.
  await sql`
    WITH replaced AS (
      UPDATE workers SET state = 'dead' WHERE name = ${worker.name} AND ${sql.unsafe(isNotDead('workers'))} RETURNING id
    )
    INSERT INTO workers (${columns(sql)})
    SELECT ${worker.id}, ${worker.name}, 'live', ${worker.capacity}, ${worker.masterKeyId ?? null},
      ${worker.signalFormat ?? null}::smallint, now() + ${worker.leaseTtlMs} * interval '1 ms', ${session(sql)}
    FROM (SELECT count(*) FROM replaced) AS done`
}

/**
 * For a process that was marked dead and continues under a new id. If another process has its name by now, the new id is
 * added to the name, because the two would otherwise replace each other endlessly. Returns the name.
 */
export async function registerWorkerAgain(db: Database, worker: NewWorker): Promise<string> {
  const sql = db.$client
  const [row] = await sql<{ name: string }[]>`
    INSERT INTO workers (${columns(sql)})
    SELECT
      ${worker.id}::uuid,
      CASE WHEN EXISTS (SELECT FROM workers WHERE name = ${worker.name} AND ${sql.unsafe(isNotDead('workers'))})
        THEN ${`${worker.name} ${worker.id.slice(0, 8)}`} ELSE ${worker.name} END,
      'live', ${worker.capacity}, ${worker.masterKeyId ?? null},
      ${worker.signalFormat ?? null}::smallint, now() + ${worker.leaseTtlMs} * interval '1 ms', ${session(sql)}
    RETURNING name`
  return row?.name ?? worker.name
}

/** False once the worker is marked dead. That is final: its shards may have other owners. */
export async function renewWorker(db: Database, id: string, leaseTtlMs: number): Promise<boolean> {
  const sql = db.$client
  const renewed = await sql`
    UPDATE workers
    SET lease_until = now() + ${leaseTtlMs} * interval '1 ms', renewed_at = now(),
        (session_pid, session_since, session_name) = (SELECT ${session(sql)}),
        renewed_since = CASE WHEN lease_until < now() THEN now() ELSE least(renewed_since, now()) END
    WHERE id = ${id} AND ${sql.unsafe(isNotDead('workers'))}
    RETURNING id`
  return renewed.length > 0
}

/** Statements may be stored in another order than they started. */
const clockSlackMs = 1000

/** `silentMs` is longer than the time between two heartbeats. */
export type WorkerTimeouts = { leaseTtlMs: number; silentMs: number }

/**
 * Marks workers dead that are past their lease, or that are silent and whose process has ended. The connections of a
 * process end with it, including the one that renewed its lease.
 *
 * Only a worker that has renewed its own lease without a gap for one full TTL may do this. Otherwise workers would mark
 * each other dead after an outage of Postgres. It takes an ended connection for a death only if its own connection is
 * older than the other's last renewal: an outage ends both connections.
 *
 * A renewal in the future means that the clock of Postgres was set back. It is changed to now. Otherwise a dead worker
 * would count as live until that time.
 */
export async function markGoneWorkersDead(
  db: Database,
  reaper: { id: string } & WorkerTimeouts,
): Promise<{ id: string; name: string; isPastLease: boolean }[]> {
  const sql = db.$client
  return await sql<{ id: string; name: string; isPastLease: boolean }[]>`
    WITH reaper AS (
      SELECT * FROM workers
      WHERE id = ${reaper.id} AND ${sql.unsafe(isSharing('workers'))} AND lease_until >= now()
        AND renewed_since <= now() - ${reaper.leaseTtlMs} * interval '1 ms'
    ),
    gone AS MATERIALIZED (
      SELECT worker.id, worker.lease_until < now() AS is_past_lease
      FROM workers AS worker, reaper
      WHERE ${sql.unsafe(isNotDead('worker'))} AND (
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
      SELECT id FROM workers WHERE ${sql.unsafe(isNotDead('workers'))} AND renewed_at > now() + ${clockSlackMs} * interval '1 ms'
      ORDER BY id FOR UPDATE SKIP LOCKED
    ),
    pulled_back AS (
      UPDATE workers SET renewed_at = now(), lease_until = now() + (lease_until - renewed_at)
      FROM from_future WHERE workers.id = from_future.id
    )
    UPDATE workers SET state = 'dead' FROM gone WHERE workers.id = gone.id
    RETURNING workers.id, workers.name, gone.is_past_lease AS "isPastLease"`
}

/** Without the right to see the start time, it counts as the same: at worst the lease decides. */
const hasSession = (sql: Database['$client'], worker: string) => sql`EXISTS (
  SELECT FROM pg_stat_get_activity(${sql(worker)}.session_pid) AS session
  WHERE coalesce(session.backend_start = ${sql(worker)}.session_since, true))`

export type LiveWorker = {
  id: string
  capacity: number
  owned: number
  /** When it can next be marked dead unless it renews its lease before. Null means now. */
  deathInMs: number | null
  /** `markGoneWorkersDead` may have something to do about it. */
  isSuspect: boolean
}

/** The workers that share in the shards, with the number that each owns. Earliest start first. */
export async function listLiveWorkers(
  db: Database,
  { leaseTtlMs, silentMs }: WorkerTimeouts,
): Promise<LiveWorker[]> {
  const sql = db.$client
  return await sql<LiveWorker[]>`
    WITH live AS (
      SELECT *, (extract(epoch FROM now() - renewed_at) * 1000)::float8 AS silent_ms
      FROM workers WHERE ${sql.unsafe(isSharing('workers'))}
    )
    SELECT live.id, live.capacity, coalesce(lease.owned, 0)::int AS owned,
      CASE
        WHEN silent_ms <= ${silentMs} THEN ${silentMs} - silent_ms
        WHEN silent_ms <= ${leaseTtlMs} THEN ${leaseTtlMs} - silent_ms
      END AS "deathInMs",
      silent_ms NOT BETWEEN ${-clockSlackMs} AND ${silentMs} AS "isSuspect"
    FROM live
    LEFT JOIN (SELECT owner, count(*) AS owned FROM shard_leases GROUP BY owner) AS lease ON lease.owner = live.id
    ORDER BY live.started_at, live.id`
}

/** A draining worker claims no shards and is not counted in the shares. It owns its shards until it releases them. */
export async function markWorkerDraining(db: Database, id: string): Promise<void> {
  const sql = db.$client
  await sql`UPDATE workers SET state = 'draining' WHERE id = ${id} AND ${sql.unsafe(isSharing('workers'))}`
}

/** The row stays, because it may still own shards. `deleteDeadWorkers` removes it. */
export async function unregisterWorker(db: Database, id: string): Promise<void> {
  await db.$client`UPDATE workers SET state = 'dead' WHERE id = ${id}`
}

/** Workers that died more than a day ago and own no shards. */
export async function deleteDeadWorkers(db: Database): Promise<void> {
  await db.$client`
    DELETE FROM workers
    WHERE state = 'dead' AND lease_until < now() - interval '1 day'
      AND NOT EXISTS (SELECT FROM shard_leases WHERE owner = workers.id)`
}
