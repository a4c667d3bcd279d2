import { type EventType, eventTypes } from '@wagate/shared/event-types'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { iso } from '../statements/iso-time.ts'
import { isLinkedIn } from './linked-device.ts'

/**
 * SQL: the row of a device as `was`, locked, in a statement that has the `fence`. To be named `before`. Without the lock,
 * `was` could be older than the row that the UPDATE finds.
 */
export function lockedDevice(sql: postgres.Sql, deviceId: number, fence: 'fence' | 'few' = 'fence') {
  return sql`
    SELECT device.id AS device_id, device AS was FROM devices AS device CROSS JOIN ${sql(fence)}
    WHERE device.id = ${deviceId} FOR NO KEY UPDATE OF device`
}

/**
 * Records an event of each device whose `announced` has changed from `before` to `changed`, both in the same statement.
 * A status that was announced already has no second event.
 */
export function insertStatusEvents(sql: postgres.Sql) {
  return sql`
    INSERT INTO events (account_id, device_id, type, data)
    SELECT account_id, id,
      CASE announced
        WHEN 'connected' THEN ${typeNumber(sql, 'device.connected')}
        WHEN 'scanning' THEN ${typeNumber(sql, 'device.qr')}
        WHEN 'passkey_required' THEN ${typeNumber(sql, 'device.passkey_required')}
        WHEN 'passkey_confirmation_required' THEN ${typeNumber(sql, 'device.passkey_required')}
        ELSE ${typeNumber(sql, 'device.disconnected')}
      END,
      CASE announced
        WHEN 'connected' THEN NULL
        WHEN 'scanning' THEN jsonb_build_object('expires_at', ${iso(sql, 'pairing_until')})
        WHEN 'passkey_required' THEN ${passkeyData(sql)}
        WHEN 'passkey_confirmation_required' THEN ${passkeyData(sql)}
        ELSE jsonb_strip_nulls(jsonb_build_object(
          'reason', announced, 'detail', status_detail, 'login_after', ${iso(sql, 'login_after')}))
      END
    FROM changed JOIN before ON before.device_id = changed.id
    WHERE changed.announced IS NOT NULL AND changed.announced IS DISTINCT FROM (before.was).announced
    RETURNING account_id`
}

const passkeyData = (sql: postgres.Sql) => sql`
  jsonb_build_object('step', announced, 'expires_at', ${iso(sql, 'pairing_until')})`

/** Records the end of the link of each device that was linked `before` and is not any more. */
export function insertUnlinkedEvents(sql: postgres.Sql, reason: postgres.Fragment) {
  return sql`
    INSERT INTO events (account_id, device_id, type, data)
    SELECT account_id, id, ${typeNumber(sql, 'device.unlinked')}, jsonb_build_object('reason', ${reason})
    FROM changed JOIN before ON before.device_id = changed.id
    WHERE ${isLinkedIn(sql, '(before.was)')}
    RETURNING account_id`
}

/** As a literal: the text of a prepared statement is constant. */
export function typeNumber(sql: postgres.Sql, type: EventType) {
  return sql.unsafe(String(eventTypes[type]))
}

export type Told = { told: number[] }

/** SQL: the column of `Told`, the accounts of the events that the step `told` of the statement records. */
export function toldAccounts(sql: postgres.Sql) {
  return sql`ARRAY(SELECT DISTINCT account_id FROM told) AS told`
}

/** To be called with what a statement that records events of devices has returned. */
export function wakeReaders({ $onEvents }: Database, rows: readonly Told[]): void {
  for (const accountId of new Set(rows.flatMap(({ told }) => told))) $onEvents?.(accountId)
}
