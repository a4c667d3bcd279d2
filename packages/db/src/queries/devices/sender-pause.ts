import { eventTypes } from '@wagate/shared/event-types'
import type { PauseMode } from '@wagate/shared/sender-pause'
import { sql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { isoText } from '../statements/iso-time.ts'

const pausedRow = (device: string) =>
  `(${device}.pause_mode IS NOT NULL AND coalesce(${device}.pause_until > now(), true))`

/** SQL: whether its account has paused the device of this name in the statement. */
export const isPaused = (client: postgres.Sql, device: string) => client.unsafe(pausedRow(device))

/**
 * Pauses a sender, or lets it send again. An event tells if that has changed anything. Returns whether it has, and undefined
 * without such a sender.
 */
export async function setSenderPause(
  db: Pick<Database, 'execute'>,
  accountId: number,
  deviceId: number,
  pause: { mode: PauseMode; until: Date | null } | null,
): Promise<boolean | undefined> {
  const was = sql.raw(pausedRow('devices'))
  const [row] = await db.execute<{ isChanged: boolean }>(sql`
    WITH before AS MATERIALIZED (
      SELECT id, CASE WHEN ${was} THEN pause_mode END AS mode, CASE WHEN ${was} THEN pause_until END AS until
      FROM devices WHERE id = ${deviceId} AND account_id = ${accountId} AND deleted_at IS NULL FOR NO KEY UPDATE
    ),
    changed AS (
      UPDATE devices SET pause_mode = ${pause?.mode ?? null}, pause_until = ${pause?.until?.toISOString() ?? null}::timestamptz
      FROM before WHERE devices.id = before.id
      RETURNING devices.account_id, devices.id, pause_mode, pause_until,
        (pause_mode, pause_until) IS DISTINCT FROM (before.mode, before.until) AS is_changed
    ),
    told AS (
      INSERT INTO events (account_id, device_id, type, data)
      SELECT account_id, id,
        CASE WHEN pause_mode IS NULL THEN ${eventTypes['device.resumed']}::int ELSE ${eventTypes['device.paused']}::int END,
        CASE WHEN pause_mode IS NOT NULL THEN jsonb_build_object('mode', pause_mode,
          'until', ${sql.raw(isoText('pause_until'))}) END
      FROM changed WHERE is_changed
    )
    SELECT is_changed AS "isChanged" FROM changed`)
  return row?.isChanged
}
