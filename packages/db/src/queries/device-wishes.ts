import { and, eq, or, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { devices, shardLeases } from '../schema.ts'
import { hasLiveOwner, isLinked } from './device-status.ts'
import { inAccount } from './devices.ts'

/**
 * Wants a session: its owner shows a QR for `pairingMs` from now. False when the device is linked, unless `force`,
 * which has the link logged out first.
 */
export async function requestPairing(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
  { pairingMs, force }: { pairingMs: number; force: boolean },
): Promise<boolean> {
  const rows = await db
    .update(devices)
    .set({
      desired: 'linked',
      // A call while scanning wants nothing new: the owner's pairing goes on.
      desiredRev: sql`${devices.desiredRev} + (${devices.desired} <> 'linked' OR ${isLinked})::int`,
      revokedGeneration: sql`CASE WHEN ${isLinked} THEN ${devices.linkGeneration} ELSE ${devices.revokedGeneration} END`,
      pairingUntil: sql`now() + ${pairingMs}::float8 * interval '1 ms'`,
    })
    .where(
      and(inAccount(accountId), eq(devices.id, deviceId), or(sql`${force}::boolean`, sql`NOT ${isLinked}`)),
    )
    .returning({ id: devices.id })
  return rows.length > 0
}

/** Wants no QR code any more; a link, if there is one, stays. */
export async function withdrawPairing(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
): Promise<void> {
  await db
    .update(devices)
    .set({ pairingUntil: null })
    .where(and(inAccount(accountId), eq(devices.id, deviceId)))
}

/** Wants no session: whatever link there is, or is being made, is logged out and wiped by its owner. */
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
    .where(and(inAccount(accountId), eq(devices.id, deviceId)))
}

/**
 * Wants it gone: from here on it is unknown to its account. Its owner logs it out at WhatsApp and then removes the
 * row, whoever crashes in between. False when the account has no such device.
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
    .where(and(inAccount(accountId), eq(devices.id, deviceId)))
    .returning({ id: devices.id })
  return rows.length > 0
}

/** What somebody who waits for a QR needs to know. */
export type Pairing = {
  isLinked: boolean
  /** False when it was called off or the QR attempts are used up. */
  isWanted: boolean
  hasLiveOwner: boolean
  /** A QR of another epoch is a former owner's. */
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
      epoch: shardLeases.epoch,
    })
    .from(devices)
    .innerJoin(shardLeases, eq(shardLeases.shard, devices.shard))
    .where(and(inAccount(accountId), eq(devices.id, deviceId)))
  return pairing
}
