import { type EventType, eventTypes } from '@wagate/shared/event-types'
import type postgres from 'postgres'
import { type CountedType, countMessages } from './message-counts.ts'

/** The default of the column, found once for all rows of a statement. */
const presentEpoch = '(SELECT event_epoch())'

const insertEvents = (rows: string) => `
  INSERT INTO events (epoch, account_id, device_id, type, message_id, at)
  SELECT ${presentEpoch}, account_id, device_id, type, id, at FROM ${rows}`

/**
 * Records one event for each row of a relation of messages (`id`, `account_id`, `device_id`), in the order of its rows.
 * `at`: the column with the time at which it happened, if that is not now.
 * Part of the statement that makes the change, so the event exists exactly if the change does.
 */
export function insertMessageEvents(
  sql: postgres.ISql,
  type: Exclude<EventType, CountedType>,
  changed: string,
  at = 'NULL::timestamptz',
) {
  return sql.unsafe(
    insertEvents(
      `(SELECT account_id, device_id, ${eventTypes[type]} AS type, id, ${at} AS at FROM ${changed}) AS happened`,
    ),
  )
}

/**
 * Steps that record events which count, and count them in `message_counts`: whatever has such an event is counted once.
 * `happened` selects a row for each, in their order: `id`, `account_id`, `device_id`, `sender`, `type`, `at`, `error_code` of a
 * failure, and `is_counted`.
 */
function countedSteps(sql: postgres.ISql, happened: string) {
  return sql.unsafe(`
    happened AS MATERIALIZED (${happened}),
    announced AS (${insertEvents('happened')} RETURNING type),
    counted AS (${countMessages('happened', 'announced')})`)
}

/** Steps that record and count what changed of messages. */
export function outcomeSteps(sql: postgres.ISql, recorded: string) {
  return countedSteps(
    sql,
    `SELECT id, account_id, device_id, sender, change.type, change.at, change.error_code, true AS is_counted
    FROM ${recorded} CROSS JOIN LATERAL (VALUES
      (${eventTypes['message.failed']}, has_failed, NULL, error_code),
      (${eventTypes['message.sent']}, is_sent, sent_at, NULL),
      (${eventTypes['message.delivered']}, is_delivered, delivered_at, NULL),
      (${eventTypes['message.read']}, is_read, read_at, NULL),
      (${eventTypes['message.played']}, is_played, played_at, NULL)) AS change (type, is_new, at, error_code)
    WHERE change.is_new`,
  )
}

/** Steps that record and count messages which have failed. */
export function failureSteps(sql: postgres.ISql, failed: string) {
  return countedSteps(
    sql,
    `SELECT id, account_id, device_id, sender, ${eventTypes['message.failed']} AS type, NULL::timestamptz AS at,
      error_code, true AS is_counted
    FROM ${failed}`,
  )
}

/** Steps that record messages which were received. They count when they are `inserted`, not when their content follows. */
export function receivedSteps(
  sql: postgres.ISql,
  { stored, inserted }: { stored: string; inserted: string },
) {
  return countedSteps(
    sql,
    `SELECT id, account_id, device_id, sender, ${eventTypes['message.received']} AS type, written_at AS at,
      NULL AS error_code, id IN (SELECT id FROM ${inserted}) AS is_counted
    FROM ${stored}`,
  )
}
