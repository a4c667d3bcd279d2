import type { RestrictionReason } from '@wagate/shared/statuses'
import type { Database } from '../../client.ts'
import { expectOwner, type Fence, fenceOf } from '../statements/fence.ts'
import { iso } from '../statements/iso-time.ts'
import { lockedDevice, type Told, toldAccounts, typeNumber, wakeReaders } from './device-event-rows.ts'

/** WhatsApp repeats what it has said at every login, and clocks differ: a smaller change of an end is no event. */
const sameSeconds = 60

/** WhatsApp lets the sender write to no new contacts for this long from now. Undefined ends the restriction. */
export async function setRestriction(
  db: Database,
  fence: Fence,
  deviceId: number,
  restriction: { reason: RestrictionReason; forMs: number } | undefined,
): Promise<void> {
  const sql = db.$client
  const rows = await expectOwner(
    fence,
    sql<Told[]>`
    WITH fence AS (${fenceOf(sql, fence)}), before AS MATERIALIZED (${lockedDevice(sql, deviceId)}),
    changed AS (
      UPDATE devices SET restriction_reason = ${restriction?.reason ?? null},
        restricted_until = now() + ${restriction?.forMs ?? null}::float8 * interval '1 ms'
      FROM before WHERE id = device_id
      RETURNING devices.*, coalesce((was).restricted_until > now(), false) AS was_restricted, was
    ),
    told AS (
      INSERT INTO events (account_id, device_id, type, data)
      SELECT account_id, id,
        CASE WHEN restricted_until IS NULL THEN ${typeNumber(sql, 'device.restriction_ended')}
          ELSE ${typeNumber(sql, 'device.restricted')} END,
        CASE WHEN restricted_until IS NOT NULL
          THEN jsonb_build_object('reason', restriction_reason, 'until', ${iso(sql, 'restricted_until')}) END
      FROM changed
      WHERE CASE WHEN restricted_until IS NULL THEN was_restricted
        ELSE NOT was_restricted OR (was).restriction_reason <> restriction_reason
          OR abs(extract(epoch FROM restricted_until - (was).restricted_until)) > ${sameSeconds} END
      RETURNING account_id
    )
    SELECT id, ${toldAccounts(sql)} FROM changed`,
  )
  wakeReaders(db, rows)
}

/** How many new contacts the sender has written to in this cycle, and how many it may. Null when WhatsApp has not said. */
export type NewChats = {
  used: number | null
  total: number | null
  /** No more in this cycle. */
  isCapped: boolean
  /** Until the end of the cycle. */
  forMs: number
}

export async function setNewChats(
  db: Database,
  fence: Fence,
  deviceId: number,
  { used, total, isCapped, forMs }: NewChats,
): Promise<void> {
  const sql = db.$client
  const rows = await expectOwner(
    fence,
    sql<Told[]>`
    WITH fence AS (${fenceOf(sql, fence)}), before AS MATERIALIZED (${lockedDevice(sql, deviceId)}),
    changed AS (
      UPDATE devices SET new_chats_used = ${used}, new_chats_total = ${total}, new_chats_capped = ${isCapped},
        new_chats_until = now() + ${forMs}::float8 * interval '1 ms'
      FROM before WHERE id = device_id
      RETURNING devices.*, coalesce((was).new_chats_until > now(), false) AS was_known, was
    ),
    told AS (
      INSERT INTO events (account_id, device_id, type, data)
      SELECT account_id, id, ${typeNumber(sql, 'device.quota')},
        jsonb_build_object('new_chats_used', new_chats_used, 'new_chats_total', new_chats_total,
          'new_chats_capped', new_chats_capped, 'until', ${iso(sql, 'new_chats_until')})
      FROM changed
      WHERE (new_chats_used, new_chats_total, new_chats_capped) IS DISTINCT FROM (
        CASE WHEN was_known THEN (was).new_chats_used END, CASE WHEN was_known THEN (was).new_chats_total END,
        was_known AND (was).new_chats_capped)
      RETURNING account_id
    )
    SELECT id, ${toldAccounts(sql)} FROM changed`,
  )
  wakeReaders(db, rows)
}
