import type { Database } from '../../client.ts'
import { type Fence, fenceOf, OwnershipLost } from '../statements/fence.ts'
import {
  insertUnlinkedEvents,
  lockedDevice,
  type Told,
  toldAccounts,
  wakeReaders,
} from './device-event-rows.ts'
import { removalDelay } from './device-owner-view.ts'
import { hasWaitingMessage } from './due-messages.ts'

/** Rows of device_auth. A sender has six for each contact, so it may have hundreds of thousands. */
const keysMax = 5000

/**
 * Deletes the credentials and keys of a device, and keeps the device. Deletes a limited number of keys at a time: call it
 * again while it returns false. The credentials are deleted with the last keys, so that a new owner finds a device that
 * is still to be wiped. A null `reason` keeps the stored one.
 */
export async function wipeCredentials(
  db: Database,
  fence: Fence,
  deviceId: number,
  reason: string | null,
): Promise<boolean> {
  const sql = db.$client
  const rows = await sql<({ isOwner: boolean; isWiped: boolean } & Told)[]>`
    WITH fence AS (${fenceOf(sql, fence)}),
    keys AS MATERIALIZED (
      SELECT type, id FROM device_auth WHERE device_id = ${deviceId} AND type <> 'creds' LIMIT ${keysMax}
    ),
    few AS (SELECT shard FROM fence WHERE (SELECT count(*) FROM keys) < ${keysMax}),
    deleted AS (
      DELETE FROM device_auth USING fence
      WHERE device_id = ${deviceId} AND (type, id) IN (SELECT type, id FROM keys)
    ),
    wiped AS (DELETE FROM device_auth USING few WHERE device_id = ${deviceId} AND type = 'creds'),
    before AS MATERIALIZED (${lockedDevice(sql, deviceId, 'few')}),
    changed AS (
      UPDATE devices SET has_credentials = false, connection = 'offline', offline_since = NULL, unlinked_at = now(),
        announced = NULL, status_reason = coalesce(${reason}, status_reason),
        status_detail = CASE WHEN ${reason}::text IS NULL THEN status_detail END, wa_jid = NULL, wa_lid = NULL
      FROM before WHERE devices.id = before.device_id RETURNING devices.*
    ),
    told AS (${insertUnlinkedEvents(sql, sql`coalesce(status_reason, 'logged_out')`)})
    SELECT EXISTS (SELECT FROM fence) AS "isOwner", EXISTS (SELECT FROM few) AS "isWiped",
      ${toldAccounts(sql)}`
  wakeReaders(db, rows)
  const [row] = rows
  if (!row?.isOwner) throw new OwnershipLost(fence)
  return row.isWiped
}

/**
 * Removes a deleted device that is unlinked and wiped. Its messages stay readable, and its row for the next link of the
 * sender. Changes nothing while a message waits or keys exist: the next reconciliation deals with them.
 */
export async function removeDevice(db: Database, fence: Fence, deviceId: number): Promise<void> {
  const sql = db.$client
  await sql`
    WITH fence AS (${fenceOf(sql, fence)}),
    removed AS (
      UPDATE devices AS device SET removed_at = now() FROM fence
      WHERE device.id = ${deviceId} AND device.deleted_at < now() - ${removalDelay}::interval
        AND NOT EXISTS (SELECT 1 FROM device_auth WHERE device_id = device.id)
        AND NOT ${hasWaitingMessage(sql, 'device')}
      RETURNING device.id
    )
    DELETE FROM device_proxies USING removed WHERE device_id = removed.id`
}
