import { type EventType, eventTypes } from '@wagate/shared/event-types'
import type postgres from 'postgres'

/** The default of the column, found once for all rows of a statement. */
const presentEpoch = '(SELECT event_epoch())'

/**
 * Records one event for each row of a relation of messages (`id`, `account_id`, `device_id`), in the order of its rows.
 * `at`: the column with the time at which it happened, if that is not now.
 * Part of the statement that makes the change, so the event exists exactly if the change does.
 */
export function insertMessageEvents(sql: postgres.ISql, type: EventType, changed: string, at = 'NULL') {
  return sql.unsafe(`
    INSERT INTO events (epoch, account_id, device_id, type, message_id, at)
    SELECT ${presentEpoch}, account_id, device_id, ${eventTypes[type]}, id, ${at} FROM ${changed}`)
}

/** As `insertMessageEvents`, for what changed of each message, in its order. */
export function insertOutcomeEvents(sql: postgres.Sql, recorded: string) {
  return sql.unsafe(`
    INSERT INTO events (epoch, account_id, device_id, type, message_id, at)
    SELECT ${presentEpoch}, account_id, device_id, change.type, id, change.at
    FROM ${recorded} CROSS JOIN LATERAL (VALUES
      (${eventTypes['message.failed']}, has_failed, NULL),
      (${eventTypes['message.sent']}, is_sent, sent_at),
      (${eventTypes['message.delivered']}, is_delivered, delivered_at),
      (${eventTypes['message.read']}, is_read, read_at),
      (${eventTypes['message.played']}, is_played, played_at)) AS change (type, is_new, at)
    WHERE change.is_new`)
}
