import type { PasskeyStep, RestrictionReason } from '@wagate/shared/statuses'
import type { Database } from '../../client.ts'
import { warmUpDay } from '../contacts/warm-up.ts'
import { type Fence, fencesOf } from '../statements/fence.ts'
import { listOf } from '../statements/rows.ts'
import { hasDueMessage, oldestDueMs } from './due-messages.ts'
import { isLinkedIn } from './linked-device.ts'
import { isPaused } from './sender-pause.ts'
import { tightestPace } from './tightest-pace.ts'

/** What an owner needs to know of a device to decide what its socket should do. */
export type DeviceState = {
  id: number
  accountId: number
  shard: number
  sender: string
  desired: 'linked' | 'unlinked'
  desiredRev: number
  /** A connection whose login began with a lower one is to be replaced. */
  sessionRev: number
  /** It has credentials, and they are wanted. */
  isLinked: boolean
  /** True as well for credentials of a link that is to be undone: after a logout, or when the wrong phone scanned. */
  hasStoredCreds: boolean
  isPairing: boolean
  /** Nothing is sent or received for it. A link that is to be removed is removed all the same. */
  isAccountDisabled: boolean
  pairingStep: PasskeyStep | null
  linkGeneration: number
  /** Null: it connects directly. */
  sealedProxy: Buffer | null
  /** Its account deleted it so long ago that no request which had found it before can still be running. */
  isRemovable: boolean
  /** The device's own pace, and no faster than that of its account. */
  ratePerMinute: number | null
  burst: number | null
  dailyCap: number | null
  newContactsPerDay: number | null
  /** The first day of its warm-up, in UTC days since 1970. */
  warmUpDay: number
  /** For how long from now WhatsApp lets it write to no new contacts. 0 without a restriction. */
  restrictedMs: number
  /** Its account has paused it. */
  isPaused: boolean
  pausedUntilMs: number | null
  /** It has had messages with another priority than `normal`. */
  usesPriorities: boolean
  statusReason: string | null
  /** The block of its logins (see `LoginBlock`). No block when all three are null or the time is over. */
  blockLeftMs: number | null
  blockRev: number | null
  blockVersion: string | null
  restrictionReason: RestrictionReason | null
  /** For how long from now it has used up its new contacts. 0 when it has not. */
  cappedMs: number
}

/** Longer than any statement of the API: one that found the device may still be storing a message for it. */
export const removalDelay = '10 s'

const columns = (db: Database) => db.$client`
  device.id, device.account_id AS "accountId", device.shard, device.sender, device.desired,
  device.desired_rev AS "desiredRev", device.session_rev AS "sessionRev",
  ${isLinkedIn(db.$client, 'device')} AS "isLinked",
  EXISTS (SELECT 1 FROM device_auth WHERE device_id = device.id AND type = 'creds') AS "hasStoredCreds",
  device.desired = 'linked' AND coalesce(device.pairing_until > now(), false) AS "isPairing",
  account.disabled_at IS NOT NULL AS "isAccountDisabled",
  device.pairing_step AS "pairingStep",
  device.link_generation AS "linkGeneration",
  (SELECT sealed FROM device_proxies WHERE device_id = device.id) AS "sealedProxy",
  coalesce(device.deleted_at < now() - ${removalDelay}::interval, false) AS "isRemovable",
  ${tightestOf(db, 'rate_per_minute')} AS "ratePerMinute",
  ${tightestOf(db, 'burst')} AS burst, ${tightestOf(db, 'daily_cap')} AS "dailyCap",
  ${tightestOf(db, 'new_contacts_per_day')} AS "newContactsPerDay",
  ${warmUpDay(db.$client)} AS "warmUpDay",
  ${msUntil(db, 'device.restricted_until')} AS "restrictedMs", device.restriction_reason AS "restrictionReason",
  CASE WHEN device.new_chats_capped THEN ${msUntil(db, 'device.new_chats_until')} ELSE 0 END AS "cappedMs",
  ${isPaused(db.$client, 'device')} AS "isPaused",
  (extract(epoch FROM device.pause_until) * 1000)::float8 AS "pausedUntilMs", device.uses_priorities AS "usesPriorities",
  device.status_reason AS "statusReason",
  (extract(epoch FROM device.login_after - now()) * 1000)::float8 AS "blockLeftMs",
  device.login_blocked_rev AS "blockRev", device.login_blocked_version AS "blockVersion"`

/** By the clock of Postgres: those of workers differ. */
const msUntil = (db: Database, moment: string) =>
  db.$client.unsafe(`greatest(0, coalesce(extract(epoch FROM ${moment} - now()), 0) * 1000)::float8`)

const tightestOf = (db: Database, column: string) =>
  db.$client.unsafe(tightestPace(`device.${column}`, `account.${column}`))

const devicesOfAccounts = (db: Database) => db.$client`
  devices AS device JOIN accounts AS account ON account.id = device.account_id`

/** In the order of the ids. Undefined for a device that does not exist, or is removed. */
export async function findDeviceStates(
  db: Database,
  deviceIds: number[],
): Promise<(DeviceState | undefined)[]> {
  const rows = await db.$client<DeviceState[]>`
    SELECT ${columns(db)} FROM ${devicesOfAccounts(db)} WHERE device.id = ANY(${deviceIds}::int[]) AND device.removed_at IS NULL`
  const states = new Map(rows.map((state) => [state.id, state]))
  return deviceIds.map((id) => states.get(id))
}

export type ClaimedDevice = { id: number; shard: number; hasWaiting: boolean }

/**
 * The first statement of a new owner: no device of its shards is online any more. Returns the devices that need their
 * owner to do something, those with due messages first.
 */
export async function claimDevices(db: Database, fences: Fence[]): Promise<ClaimedDevice[]> {
  const sql = db.$client
  return sql<ClaimedDevice[]>`
    WITH valid AS (${fencesOf(sql, fences)}), ended AS (${endConnections(db)})
    SELECT device.id, device.shard, ${hasDueMessage(db.$client, 'device')} AS "hasWaiting" FROM devices AS device JOIN valid USING (shard)
    WHERE ${needsOwner(db)}
    ORDER BY 3 DESC, device.id`
}

/** The last statement of an owner that gives these shards away: none of their devices is online any more. */
export async function releaseDevices(db: Database, fences: Fence[]): Promise<void> {
  await db.$client`WITH valid AS (${fencesOf(db.$client, fences)}) ${endConnections(db)}`
}

const endConnections = (db: Database) => db.$client`
  UPDATE devices SET connection = 'offline', pairing_step = NULL, offline_since = coalesce(offline_since, now())
  FROM valid WHERE devices.shard = valid.shard AND devices.connection <> 'offline'`

/**
 * `counts`: it has credentials, so it counts for the capacity of its owner. `waitingMs`: for how long its oldest message has been
 * due; null without one that it may send.
 */
export type DeviceWork = DeviceState & {
  hasWaiting: boolean
  waitingMs: number | null
  hasReadRequests: boolean
  counts: boolean
}

/**
 * The devices of these shards that need their owner to do something or have due messages. Finds what a lost command
 * would have announced.
 */
export async function listDevicesWithWork(db: Database, shards: number[]): Promise<DeviceWork[]> {
  const working = await db.$client<Omit<DeviceWork, 'hasWaiting'>[]>`
    SELECT ${columns(db)},
      CASE WHEN account.disabled_at IS NULL THEN ${oldestDueMs(db.$client, 'device')} END AS "waitingMs",
      EXISTS (SELECT FROM read_requests WHERE device_id = device.id) AS "hasReadRequests", device.has_credentials AS counts
    FROM ${devicesOfAccounts(db)}
    WHERE device.shard = ANY(${listOf(shards)}::int[]) AND (${needsOwner(db)} OR ${hasDueMessage(db.$client, 'device')})`
  return working.map((device) => ({ ...device, hasWaiting: device.waitingMs !== null }))
}

const needsOwner = (db: Database) => db.$client`(
  device.has_credentials
  OR (device.deleted_at IS NOT NULL AND device.removed_at IS NULL)
  OR (device.desired = 'linked' AND device.pairing_until > now())
  OR EXISTS (SELECT 1 FROM device_auth WHERE device_id = device.id AND type = 'creds'))`

/** The number of devices with credentials by shard. Shards without one are left out. */
export async function countLinkedDevices(db: Database, shards: number[]): Promise<Map<number, number>> {
  const rows = await db.$client<{ shard: number; linked: number }[]>`
    SELECT shard, count(*)::int AS linked FROM devices
    WHERE shard = ANY(${listOf(shards)}::int[]) AND has_credentials GROUP BY shard`
  return new Map(rows.map(({ shard, linked }) => [shard, linked]))
}
