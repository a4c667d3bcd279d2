import type { EventType } from '@wagate/shared/event-types'
import type { PasskeyStep } from '@wagate/shared/statuses'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { contactsOfFormer, formerDevices, warmUpOfLink } from '../contacts/warm-up.ts'
import { expectOwner, type Fence, fenceOf } from '../statements/fence.ts'
import { iso } from '../statements/iso-time.ts'
import { newWriteKeys } from '../statements/write-keys.ts'
import {
  insertStatusEvents,
  lockedDevice,
  type Told,
  toldAccounts,
  typeNumber,
  wakeReaders,
} from './device-event-rows.ts'

/** The credentials are stored by the statement that sets `has_credentials`. */
type SealedCreds = { type: string; id: string; value: Buffer | null }

/** `key`: that of the write. `desiredRev`: the desired state whose QR code was scanned. */
type ScannedLink = { key: string; desiredRev: number; creds: SealedCreds }

/**
 * Links a device whose QR code was scanned. Its messages belong to a new generation from now on. A link that the API has
 * withdrawn meanwhile is stored only to be logged out, and a newer request for pairing still waits for its own scan. The
 * new contacts of a device of the same sender that the account has deleted count for this one.
 */
export async function linkDevice(
  db: Database,
  fence: Fence,
  deviceId: number,
  link: ScannedLink & { waJid: string; waLid: string | null },
): Promise<void> {
  const sql = db.$client
  const isWanted = sql`desired_rev = ${link.desiredRev}`
  await expectOwner(
    fence,
    sql`
    WITH ${ownedOnce(sql, fence, link.key)}, stored AS (${storeCredentials(db, deviceId, link.creds)}),
    former AS MATERIALIZED (${formerDevices(sql, deviceId)}), counted AS (${contactsOfFormer(sql, deviceId)}),
    linked AS (
      UPDATE devices SET has_credentials = true, link_generation = link_generation + 1,
        revoked_generation = CASE WHEN ${isWanted} THEN revoked_generation ELSE link_generation + 1 END,
        pairing_until = CASE WHEN ${isWanted} THEN NULL ELSE pairing_until END,
        warm_up_from = ${warmUpOfLink(sql)}, wa_jid = ${link.waJid}, wa_lid = ${link.waLid}, connection = 'connecting',
        offline_since = now(), status_reason = NULL, announced = NULL, ${noRefusal(sql)}
      FROM fence WHERE id = ${deviceId}
    )
    SELECT shard FROM lease`,
  )
}

/** The phone that scanned has another number. Its credentials are stored only to log it out. */
export async function refuseLink(
  db: Database,
  fence: Fence,
  deviceId: number,
  link: ScannedLink & { reason: string },
): Promise<void> {
  const sql = db.$client
  const isWanted = sql`desired_rev = ${link.desiredRev}`
  const rows = await expectOwner(
    fence,
    sql<Told[]>`
    WITH ${ownedOnce(sql, fence, link.key)}, stored AS (${storeCredentials(db, deviceId, link.creds)}),
    changed AS (
      UPDATE devices SET pairing_until = CASE WHEN ${isWanted} THEN NULL ELSE pairing_until END,
        connection = 'offline', announced = NULL,
        status_reason = CASE WHEN ${isWanted} THEN ${link.reason} ELSE status_reason END, ${noRefusal(sql)}
      FROM fence WHERE id = ${deviceId} RETURNING id, account_id, ${isWanted} AS is_wanted
    ),
    told AS (
      INSERT INTO events (account_id, device_id, type, data)
      SELECT account_id, id, ${typeNumber(sql, 'device.unlinked')}, jsonb_build_object('reason', ${link.reason}::text)
      FROM changed WHERE is_wanted
      RETURNING account_id
    )
    SELECT shard, ${toldAccounts(sql)} FROM lease`,
  )
  wakeReaders(db, rows)
}

/**
 * SQL: `lease`, one row while the fence holds, and `fence`, one row if the write of this key has also not taken effect yet.
 */
const ownedOnce = (sql: postgres.Sql, fence: Fence, key: string) => sql`
  lease AS (${fenceOf(sql, fence)}), fence AS (${newWriteKeys(sql, sql`SELECT ${key}::uuid FROM lease`)})`

const owned = (sql: postgres.Sql, fence: Fence) => sql`
  lease AS (${fenceOf(sql, fence)}), fence AS (SELECT FROM lease)`

/** What WhatsApp refused the former link does not concern a phone that was scanned after that. */
const noRefusal = (sql: postgres.Sql) => sql`
  pairing_step = NULL, status_detail = NULL, login_after = NULL, login_blocked_rev = NULL, login_blocked_version = NULL`

const storeCredentials = (db: Database, deviceId: number, { type, id, value }: SealedCreds) => db.$client`
  INSERT INTO device_auth (device_id, type, id, value)
  SELECT ${deviceId}::int, ${type}, ${id}, ${value} FROM fence
  ON CONFLICT ON CONSTRAINT device_auth_pk DO UPDATE SET value = excluded.value, used_on = excluded.used_on`

/** For a pairing without a scan in time. Changes nothing if the API has requested pairing again meanwhile. */
export async function endPairing(
  db: Database,
  fence: Fence,
  deviceId: number,
  seen: { desiredRev: number; reason: string | null },
): Promise<void> {
  const sql = db.$client
  const rows = await sql<Told[]>`
    WITH fence AS (${fenceOf(sql, fence)}), before AS MATERIALIZED (${lockedDevice(sql, deviceId)}),
    changed AS (
      UPDATE devices SET pairing_until = NULL, connection = 'offline', status_reason = ${seen.reason},
        status_detail = NULL, pairing_step = NULL, announced = ${seen.reason}
      FROM before
      WHERE id = device_id AND desired_rev = ${seen.desiredRev} AND NOT has_credentials RETURNING devices.*
    ),
    told AS (${insertStatusEvents(sql)})
    SELECT ${toldAccounts(sql)}`
  wakeReaders(db, rows)
}

/**
 * WhatsApp asks for a passkey: the pairing goes on for `forMs` from now. False when the API has withdrawn it, or requested
 * another one, since the QR code was scanned.
 */
export async function setPairingStep(
  db: Database,
  fence: Fence,
  deviceId: number,
  { desiredRev, step, forMs }: { desiredRev: number; step: PasskeyStep; forMs: number },
): Promise<boolean> {
  const sql = db.$client
  const rows = await sql<Told[]>`
    WITH fence AS (${fenceOf(sql, fence)}), before AS MATERIALIZED (${lockedDevice(sql, deviceId)}),
    changed AS (
      UPDATE devices SET pairing_step = ${step}, announced = ${step},
        pairing_until = now() + ${forMs}::float8 * interval '1 ms'
      FROM before
      WHERE id = device_id AND desired_rev = ${desiredRev} AND NOT has_credentials AND pairing_until > now()
      RETURNING devices.*
    ),
    told AS (${insertStatusEvents(sql)})
    SELECT id, ${toldAccounts(sql)} FROM changed`
  wakeReaders(db, rows)
  return rows.length > 0
}

/** A code that links the device has been given out. It is valid for `forMs`, and is not stored. */
export function announcePairingCode(
  db: Database,
  fence: Fence,
  deviceId: number,
  forMs: number,
): Promise<void> {
  const sql = db.$client
  return announce(db, fence, {
    type: 'device.pairing_code',
    until: sql`now() + ${forMs}::float8 * interval '1 ms'`,
    to: sql`id = ${deviceId}`,
  })
}

/**
 * The QR code that is shown was replaced before its time, and whoever shows it must fetch the new one. Records nothing for
 * a device whose status is not `scanning`.
 */
export function announceReplacedQr(db: Database, fence: Fence, deviceId: number, key: string): Promise<void> {
  const sql = db.$client
  return announce(db, fence, {
    key,
    type: 'device.qr',
    until: sql`pairing_until`,
    to: sql`id = ${deviceId} AND announced = 'scanning'`,
  })
}

/**
 * Records an event that changes no device, once for each `key`. Without one, it must not be repeated. `until` is SQL, and so
 * is `to`, which chooses the device.
 */
async function announce(
  db: Database,
  fence: Fence,
  {
    key,
    type,
    until,
    to,
  }: { key?: string; type: EventType; until: postgres.Fragment; to: postgres.Fragment },
): Promise<void> {
  const sql = db.$client
  const rows = await expectOwner(
    fence,
    sql<Told[]>`
    WITH ${key === undefined ? owned(sql, fence) : ownedOnce(sql, fence, key)},
    chosen AS (SELECT account_id, id, ${until} AS until FROM devices CROSS JOIN fence WHERE ${to}),
    told AS (
      INSERT INTO events (account_id, device_id, type, data)
      SELECT account_id, id, ${typeNumber(sql, type)}, jsonb_build_object('expires_at', ${iso(sql, 'until')})
      FROM chosen
      RETURNING account_id
    )
    SELECT shard, ${toldAccounts(sql)} FROM lease`,
  )
  wakeReaders(db, rows)
}
