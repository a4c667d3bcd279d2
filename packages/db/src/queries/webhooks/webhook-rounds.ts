import type { EventPosition } from '@wagate/shared/event-ids'
import { eventTypes } from '@wagate/shared/event-types'
import type { TargetFault } from '@wagate/shared/statuses'
import type { Database } from '../../client.ts'
import { mayBeElsewhere } from '../statements/recorded-times.ts'
import { rows } from '../statements/rows.ts'
import { newWriteKeys } from '../statements/write-keys.ts'
import type { WebhookLease } from './webhook-leases.ts'

export type WebhookPosition = { webhookId: number; accountId: number; position: EventPosition }

/** What a webhook may have to deliver: events after its position, or deliveries whose time has come. */
export type DueWebhook = { webhookId: number; hasEvents: boolean; hasDeliveries: boolean }

/** One statement for all webhooks of a process. Those without anything to deliver are left out. */
export async function listDueWebhooks(db: Database, positions: WebhookPosition[]): Promise<DueWebhook[]> {
  const sql = db.$client
  return await sql<DueWebhook[]>`
    WITH horizon AS MATERIALIZED (
      SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS tx FROM installation
    ),
    given AS (
      SELECT webhook_id AS "webhookId",
        EXISTS (
          SELECT FROM events, horizon WHERE events.account_id = given.account_id
            AND (events.epoch, events.tx, events.id) > (given.epoch, given.tx::xid8, given.event_id)
            AND (events.epoch < horizon.epoch OR events.tx < horizon.tx)
            AND created_at >= to_timestamp(given.seconds) - interval '1 day' AND created_at < now() + interval '1 day'
        ) OR ${mayBeElsewhere(sql, { epoch: sql`given.epoch`, seconds: sql`given.seconds` })} AS "hasEvents",
        EXISTS (
          SELECT FROM webhook_deliveries AS delivery
          WHERE delivery.webhook_id = given.webhook_id AND next_attempt_at <= now()
        ) AS "hasDeliveries"
      FROM ${rows(sql, 'given', positions, {
        webhook_id: ['int', ({ webhookId }) => webhookId],
        account_id: ['int', ({ accountId }) => accountId],
        epoch: ['int', ({ position }) => position.epoch],
        tx: ['text', ({ position }) => position.tx],
        event_id: ['bigint', ({ position }) => position.id],
        seconds: ['bigint', ({ position }) => position.seconds],
      })}
    )
    SELECT * FROM given WHERE "hasEvents" OR "hasDeliveries"`
}

export type DueDelivery = { id: string; eventIds: string[]; attempts: number }

/** The most overdue first. */
export async function listDueDeliveries(
  db: Database,
  webhookId: number,
  limit: number,
): Promise<DueDelivery[]> {
  return await db.$client<DueDelivery[]>`
    SELECT id::text, event_ids AS "eventIds", attempts FROM webhook_deliveries
    WHERE webhook_id = ${webhookId} AND next_attempt_at <= now() ORDER BY next_attempt_at, id LIMIT ${limit}`
}

/** Deliveries that wait for their next attempt, up to `limit`. */
export async function countWaitingDeliveries(
  db: Database,
  webhookId: number,
  limit: number,
): Promise<number> {
  const [row] = await db.$client<{ count: number }[]>`
    SELECT count(*)::int AS count FROM (
      SELECT FROM webhook_deliveries WHERE webhook_id = ${webhookId} AND next_attempt_at IS NOT NULL LIMIT ${limit}
    ) AS waiting`
  return row?.count ?? 0
}

/** `delayMs`: until the next attempt. Null when this was the last one. */
type Retry = { attempts: number; delayMs: number | null }

export type AttemptRecord = {
  number: number
  deliveryId: string
  eventIds: string[]
  attempt: number
  durationMs: number
  status: number | null
  error: string | null
  answer: string | null
}

export type Round = {
  /** That of the write. */
  key: string
  /** Undefined: as before. */
  position: EventPosition | undefined
  /** Requests of the stream that failed. */
  parked: (Retry & { eventIds: string[] })[]
  repeated: (Retry & { id: string })[]
  /** The ids of deliveries that need no further attempt. */
  done: string[]
  attempts: AttemptRecord[]
  /** Undefined when nothing was attempted. */
  result: 'succeeded' | 'failed' | undefined
  /** At least one request failed, whatever the result. */
  hasFailure: boolean
  isBacklogFull: boolean
}

const attemptsKept = 1000
const listOf = (ids: string[]) => ids.join(' ')

/**
 * Stores what became of the requests of a round, in one statement: the position never passes an event that was neither
 * delivered nor parked. A round that was stored is not stored again. Returns since when the webhook has only failed, or
 * undefined when the lease has ended: then nothing was stored.
 */
export async function recordRound(
  db: Database,
  { webhookId, dispatcher, epoch }: WebhookLease,
  { key, position, parked, repeated, done, attempts, result, hasFailure, isBacklogFull }: Round,
): Promise<{ failingMs: number } | undefined> {
  const sql = db.$client
  const isFailed = result === 'failed'
  const isOwned = sql`id = ${webhookId} AND dispatcher = ${dispatcher} AND lease_epoch = ${epoch}`
  const nextAttempt = sql`now() + given.delay_ms * interval '1 ms'`
  const [row] = await sql<{ failingMs: number }[]>`
    WITH keys AS (${newWriteKeys(sql, sql`SELECT ${key}::uuid FROM webhooks WHERE ${isOwned}`)}),
    fence AS (
      UPDATE webhooks SET
        epoch = coalesce(${position?.epoch ?? null}::int, epoch),
        tx = coalesce(${position?.tx ?? null}::text::xid8, tx),
        event_id = coalesce(${position?.id ?? null}::bigint, event_id),
        seconds = coalesce(${position?.seconds ?? null}::bigint, seconds),
        failing_since = CASE
          WHEN ${result ?? null}::text IS NULL THEN failing_since WHEN ${isFailed} THEN coalesce(failing_since, now()) END,
        backlog_full_since = CASE WHEN ${isBacklogFull} THEN coalesce(backlog_full_since, now()) END,
        last_success_at = CASE WHEN ${result === 'succeeded'} THEN now() ELSE last_success_at END,
        last_failure_at = CASE WHEN ${hasFailure} THEN now() ELSE last_failure_at END
      FROM keys WHERE ${isOwned}
      RETURNING id, failing_since
    ),
    parked AS (
      INSERT INTO webhook_deliveries (webhook_id, event_ids, attempts, next_attempt_at)
      SELECT fence.id, string_to_array(given.event_ids, ' '), given.attempts, ${nextAttempt}
      FROM fence, ${rows(sql, 'given', parked, {
        event_ids: ['text', ({ eventIds }) => listOf(eventIds)],
        attempts: ['int', ({ attempts }) => attempts],
        delay_ms: ['bigint', ({ delayMs }) => delayMs],
      })}
    ),
    repeated AS (
      UPDATE webhook_deliveries AS delivery SET attempts = given.attempts, next_attempt_at = ${nextAttempt}
      FROM fence, ${rows(sql, 'given', repeated, {
        id: ['bigint', ({ id }) => id],
        attempts: ['int', ({ attempts }) => attempts],
        delay_ms: ['bigint', ({ delayMs }) => delayMs],
      })}
      WHERE delivery.id = given.id AND delivery.webhook_id = fence.id
    ),
    done AS (
      DELETE FROM webhook_deliveries AS delivery USING fence
      WHERE delivery.webhook_id = fence.id AND delivery.id = ANY (${done}::bigint[])
    ),
    logged AS (
      INSERT INTO webhook_attempts (webhook_id, number, delivery_id, event_ids, attempt, duration_ms, status, error, answer)
      SELECT fence.id, given.number, given.delivery_id, string_to_array(given.event_ids, ' '), given.attempt,
        given.duration_ms, given.status, given.error, given.answer
      FROM fence, ${rows(sql, 'given', attempts, {
        number: ['bigint', ({ number }) => number],
        delivery_id: ['text', ({ deliveryId }) => deliveryId],
        event_ids: ['text', ({ eventIds }) => listOf(eventIds)],
        attempt: ['int', ({ attempt }) => attempt],
        duration_ms: ['int', ({ durationMs }) => durationMs],
        status: ['int', ({ status }) => status],
        error: ['text', ({ error }) => error],
        answer: ['text', ({ answer }) => answer],
      })}
    ),
    forgotten AS (
      DELETE FROM webhook_attempts AS attempt USING fence
      WHERE attempt.webhook_id = fence.id AND attempt.number <= ${(attempts.at(-1)?.number ?? 0) - attemptsKept}
    )
    SELECT coalesce(extract(epoch FROM now() - failing_since) * 1000, 0)::float8 AS "failingMs" FROM (
      SELECT failing_since FROM fence
      UNION ALL SELECT failing_since FROM webhooks WHERE ${isOwned} AND NOT EXISTS (SELECT FROM keys)
    ) AS webhook`
  return row
}

/** Ends the lease, and tells the account with an event. False when the lease has ended before. */
export async function disableWebhook(
  db: Database,
  { webhookId, dispatcher, epoch }: WebhookLease,
  reason: TargetFault,
): Promise<boolean> {
  const inserted = await db.$client`
    WITH disabled AS (
      UPDATE webhooks SET disabled_at = now(), disabled_reason = ${reason}, dispatcher = NULL, lease_epoch = lease_epoch + 1
      WHERE id = ${webhookId} AND dispatcher = ${dispatcher} AND lease_epoch = ${epoch} AND disabled_at IS NULL
      RETURNING id, account_id
    )
    INSERT INTO events (account_id, type, data)
    SELECT account_id, ${eventTypes['webhook.disabled']}, jsonb_build_object('webhook_id', id, 'reason', ${reason}::text)
    FROM disabled`
  return inserted.count > 0
}
