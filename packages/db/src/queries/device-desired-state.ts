import type { PasskeyStep } from '@wagate/shared/statuses'
import { and, eq, or, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { devices } from '../schema/devices.ts'
import { shardLeases } from '../schema/workers.ts'
import { hasLiveOwner, pairingStep } from './device-public-status.ts'
import { isDevice } from './devices.ts'
import { isLinked } from './linked-device.ts'

/**
 * Requests pairing: the owner shows a QR code for `pairingMs` from now, or goes on with the passkey that WhatsApp asks for.
 * False when the device is linked. `force` begins again, and logs a link out first.
 */
export async function requestPairing(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
  { pairingMs, force }: { pairingMs: number; force: boolean },
): Promise<boolean> {
  // It has its own time.
  const keepsStep = sql`(${pairingStep} IS NOT NULL AND NOT ${force}::boolean)`
  const rows = await db
    .update(devices)
    .set({
      desired: 'linked',
      // A repeated request leaves the owner's pairing session running.
      desiredRev: sql`${devices.desiredRev} + (${devices.desired} <> 'linked' OR ${isLinked}
        OR (${devices.pairingStep} IS NOT NULL AND NOT ${keepsStep}))::int`,
      revokedGeneration: sql`CASE WHEN ${isLinked} THEN ${devices.linkGeneration} ELSE ${devices.revokedGeneration} END`,
      pairingStep: sql`CASE WHEN ${keepsStep} THEN ${devices.pairingStep} END`,
      pairingUntil: sql`CASE WHEN ${keepsStep} THEN ${devices.pairingUntil}
        ELSE now() + ${pairingMs}::float8 * interval '1 ms' END`,
    })
    .where(and(isDevice(accountId, deviceId), or(sql`${force}::boolean`, sql`NOT ${isLinked}`)))
    .returning({ id: devices.id })
  return rows.length > 0
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

/** Requests unlinking: the owner logs out and wipes the link, and also one that is being made. */
export async function requestUnlink(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
): Promise<void> {
  await db
    .update(devices)
    .set({
      desired: 'unlinked',
      desiredRev: sql`${devices.desiredRev} + (${devices.desired} <> 'unlinked')::int`,
      revokedGeneration: devices.linkGeneration,
      pairingUntil: null,
    })
    .where(isDevice(accountId, deviceId))
}

/**
 * Requests removal: the device is unknown to its account from now on. Its owner logs it out at WhatsApp and then removes
 * the row, also after crashes. False when the account has no such device.
 */
export async function requestRemoval(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
): Promise<boolean> {
  const rows = await db
    .update(devices)
    .set({
      deletedAt: sql`now()`,
      desired: 'unlinked',
      desiredRev: sql`${devices.desiredRev} + 1`,
      revokedGeneration: devices.linkGeneration,
      pairingUntil: null,
    })
    .where(isDevice(accountId, deviceId))
    .returning({ id: devices.id })
  return rows.length > 0
}

/** What a request that waits for a QR code needs to know. */
export type Pairing = {
  isLinked: boolean
  /** False after it was withdrawn or the QR codes have run out. */
  isWanted: boolean
  hasLiveOwner: boolean
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
      step: pairingStep,
      epoch: shardLeases.epoch,
    })
    .from(devices)
    .innerJoin(shardLeases, eq(shardLeases.shard, devices.shard))
    .where(isDevice(accountId, deviceId))
  return pairing
}
