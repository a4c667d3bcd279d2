import { eventTypes } from '@wagate/shared/event-types'
import type { PasskeyStep, UnlinkReason } from '@wagate/shared/statuses'
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../client.ts'
import { devices } from '../../schema/devices.ts'
import { shardLeases } from '../../schema/workers.ts'
import { hasLiveOwner, pairingStep } from './device-public-status.ts'
import { inAccount, isDevice } from './devices.ts'
import { isLinked } from './linked-device.ts'

/**
 * Requests pairing: the owner shows a QR code for `pairingMs` from now, or goes on with the passkey that WhatsApp asks for.
 * False when the device is linked. `force` begins again, and logs a link out first.
 */
export async function requestPairing(
  db: Pick<Database, 'execute'>,
  accountId: number,
  deviceId: number,
  { pairingMs, force }: { pairingMs: number; force: boolean },
): Promise<boolean> {
  // It has its own time.
  const keepsStep = sql`(${pairingStep} IS NOT NULL AND NOT ${force}::boolean)`
  const changes = {
    desired: sql`'linked'`,
    // A repeated request leaves the owner's pairing session running.
    desired_rev: sql`desired_rev + (desired <> 'linked' OR ${isLinked}
      OR (pairing_step IS NOT NULL AND NOT ${keepsStep}))::int`,
    revoked_generation: sql`CASE WHEN ${isLinked} THEN link_generation ELSE revoked_generation END`,
    pairing_step: sql`CASE WHEN ${keepsStep} THEN pairing_step END`,
    pairing_until: sql`CASE WHEN ${keepsStep} THEN pairing_until
      ELSE now() + ${pairingMs}::float8 * interval '1 ms' END`,
    // If an earlier pairing has ended without its owner, its QR code was announced, and that of this one was not.
    announced: sql`CASE WHEN pairing_until > now() AND NOT ${isLinked} THEN announced END`,
  }
  const condition = and(isDevice(accountId, deviceId), or(sql`${force}::boolean`, sql`NOT ${isLinked}`))
  return (await changeDesired(db, condition, changes, 'pairing_requested')) !== undefined
}

/**
 * Requests a new login with the same credentials, or joins a request that is not met yet. Returns the revision that is met
 * when `connectedSessionRev` has reached it. Undefined when the device is not linked.
 */
export async function requestRestart(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
): Promise<number | undefined> {
  const isMet = sql`(${devices.sessionRev} = ${devices.connectedSessionRev})::int`
  const [device] = await db
    .update(devices)
    .set({ sessionRev: sql`${devices.sessionRev} + ${isMet}` })
    .where(and(isDevice(accountId, deviceId), isLinked))
    .returning({ sessionRev: devices.sessionRev })
  return device?.sessionRev
}

/** Ends a request for pairing. An existing link stays. */
export async function withdrawPairing(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
): Promise<void> {
  await db.update(devices).set({ pairingUntil: null }).where(isDevice(accountId, deviceId))
}

/**
 * Requests unlinking: the owner logs out and wipes the link, and also one that is being made. False when it was requested
 * before.
 */
export async function requestUnlink(
  db: Pick<Database, 'execute'>,
  accountId: number,
  deviceId: number,
): Promise<boolean> {
  const desiredRev = sql`desired_rev + (desired <> 'unlinked')::int`
  const found = await changeDesired(
    db,
    isDevice(accountId, deviceId),
    unlinked(desiredRev),
    'logout_requested',
  )
  return found?.wasWanted ?? false
}

/**
 * Requests removal: the device is unknown to its account from now on. Its owner logs it out at WhatsApp and then removes
 * the row, also after crashes. False when the account has no such device.
 */
export async function requestRemoval(
  db: Pick<Database, 'execute'>,
  accountId: number,
  deviceId: number,
): Promise<boolean> {
  const changes = { deleted_at: sql`now()`, ...unlinked(sql`desired_rev + 1`) }
  return (await changeDesired(db, isDevice(accountId, deviceId), changes, 'device_deleted')) !== undefined
}

/** The same for all devices of an account. */
export async function requestRemovalOfAll(db: Pick<Database, 'execute'>, accountId: number): Promise<void> {
  const changes = { deleted_at: sql`now()`, ...unlinked(sql`desired_rev + 1`) }
  await changeDesired(db, inAccount(accountId), changes, 'device_deleted')
}

const unlinked = (desiredRev: SQL) => ({
  desired: sql`'unlinked'`,
  desired_rev: desiredRev,
  revoked_generation: sql`link_generation`,
  pairing_until: sql`NULL`,
  announced: sql`NULL`,
})

/** Undefined when there is no such device. If it was linked, the link is over, and an event says so. */
async function changeDesired(
  db: Pick<Database, 'execute'>,
  condition: SQL | undefined,
  changes: Record<string, SQL>,
  unlinkReason: UnlinkReason,
): Promise<{ wasWanted: boolean } | undefined> {
  const assignments = Object.entries(changes).map(([column, value]) => sql`${sql.raw(column)} = ${value}`)
  const [found] = await db.execute<{ wasWanted: boolean }>(sql`
    WITH before AS MATERIALIZED (
      SELECT id AS device_id, ${isLinked} AS was_linked, desired <> 'unlinked' AS was_wanted FROM devices WHERE ${condition} FOR NO KEY UPDATE
    ),
    changed AS (
      UPDATE devices SET ${sql.join(assignments, sql`, `)} FROM before WHERE id = device_id
      RETURNING id, account_id, was_linked, was_wanted
    ),
    told AS (
      INSERT INTO events (account_id, device_id, type, data)
      SELECT account_id, id, ${eventTypes['device.unlinked']}, jsonb_build_object('reason', ${unlinkReason}::text)
      FROM changed WHERE was_linked
    )
    SELECT was_wanted AS "wasWanted" FROM changed`)
  return found
}

/** What a request that waits for a QR code needs to know. */
export type Pairing = {
  isLinked: boolean
  /** False after it was withdrawn or the QR codes have run out. */
  isWanted: boolean
  hasLiveOwner: boolean
  /** Otherwise a QR code that Redis still has was scanned already, or its connection has ended. */
  isScanning: boolean
  /** WhatsApp asks for a passkey, so there is no QR code any more. */
  step: PasskeyStep | null
  /** A QR code of another epoch is from a former owner. */
  epoch: number
}

export async function findPairing(
  db: Pick<Database, 'select'>,
  accountId: number,
  deviceId: number,
): Promise<Pairing | undefined> {
  const [pairing] = await db
    .select({
      isLinked,
      isWanted: sql<boolean>`${devices.desired} = 'linked' AND coalesce(${devices.pairingUntil} > now(), false)`,
      hasLiveOwner,
      isScanning: sql<boolean>`${devices.connection} = 'scanning'`,
      step: pairingStep,
      epoch: shardLeases.epoch,
    })
    .from(devices)
    .innerJoin(shardLeases, eq(shardLeases.shard, devices.shard))
    .where(isDevice(accountId, deviceId))
  return pairing
}
