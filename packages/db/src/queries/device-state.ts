import type { Database } from '../client.ts'
import { isLinkedIn } from './device-status.ts'
import { hasDueMessage, hasWaitingMessage } from './due-messages.ts'
import { type Fence, fenceOf, fencesOf, OwnershipLost } from './fence.ts'
import { tightestPace } from './tightest-pace.ts'

/** What an owner needs to know of a device to decide what its socket should do. */
export type DeviceState = {
  id: number
  accountId: number
  shard: number
  sender: string
  desired: 'linked' | 'unlinked'
  desiredRev: number
  /** Linked, and meant to be. */
  isLinked: boolean
  /** True as well for credentials of a link that is to be undone: a logout, a wrong phone. */
  hasStoredCreds: boolean
  isPairing: boolean
  linkGeneration: number
  /** Its account wants it gone, for so long that no request which still found it can be running. */
  isRemovable: boolean
  /** The device's own pace, and no faster than that of its account. */
  ratePerMinute: number | null
  burst: number | null
  dailyCap: number | null
  /** For how long from now WhatsApp lets it write to no new contacts; 0 when it does. */
  restrictedMs: number
}

/** Longer than any statement of the API: one that found the device may still be storing a message for it. */
const removalDelay = '10 s'

const columns = (db: Database) => db.$client`
  device.id, device.account_id AS "accountId", device.shard, device.sender, device.desired,
  device.desired_rev AS "desiredRev",
  ${isLinkedIn(db.$client, 'device')} AS "isLinked",
  EXISTS (SELECT 1 FROM device_auth WHERE device_id = device.id AND type = 'creds') AS "hasStoredCreds",
  device.desired = 'linked' AND coalesce(device.pairing_until > now(), false) AS "isPairing",
  device.link_generation AS "linkGeneration",
  coalesce(device.deleted_at < now() - ${removalDelay}::interval, false) AS "isRemovable",
  ${tightestOf(db, 'rate_per_minute')} AS "ratePerMinute",
  ${tightestOf(db, 'burst')} AS burst, ${tightestOf(db, 'daily_cap')} AS "dailyCap",
  greatest(0, coalesce(extract(epoch FROM device.restricted_until - now()), 0) * 1000)::float8 AS "restrictedMs"`

const tightestOf = (db: Database, column: string) =>
  db.$client.unsafe(tightestPace(`device.${column}`, `account.${column}`))

const devicesOfAccounts = (db: Database) => db.$client`
  devices AS device JOIN accounts AS account ON account.id = device.account_id`

/** In the order of the ids; undefined for a device that does not exist. */
export async function findDeviceStates(
  db: Database,
  deviceIds: number[],
): Promise<(DeviceState | undefined)[]> {
  const rows = await db.$client<DeviceState[]>`
    SELECT ${columns(db)} FROM ${devicesOfAccounts(db)} WHERE device.id = ANY(${deviceIds}::int[])`
  const states = new Map(rows.map((state) => [state.id, state]))
  return deviceIds.map((id) => states.get(id))
}

export type TakenDevice = { id: number; shard: number; hasWaiting: boolean }

/**
 * The first statement of a new owner: nothing of its shards is online any more. Answers with the devices
 * that want something of it, those with waiting messages first.
 */
export async function takeDevices(db: Database, fences: Fence[]): Promise<TakenDevice[]> {
  const sql = db.$client
  return sql<TakenDevice[]>`
    WITH valid AS (${fencesOf(sql, fences)}), ended AS (${endConnections(db)})
    SELECT device.id, device.shard, ${hasDueMessage(db.$client, 'device')} AS "hasWaiting" FROM devices AS device JOIN valid USING (shard)
    WHERE ${wantsOwner(db)}
    ORDER BY 3 DESC, device.id`
}

/** An owner that gives these shards away closes what is online. */
export async function leaveDevices(db: Database, fences: Fence[]): Promise<void> {
  await db.$client`WITH valid AS (${fencesOf(db.$client, fences)}) ${endConnections(db)}`
}

const endConnections = (db: Database) => db.$client`
  UPDATE devices SET connection = 'offline', offline_since = coalesce(offline_since, now())
  FROM valid WHERE devices.shard = valid.shard AND devices.connection <> 'offline'`

/** The devices of these shards that want something of their owner or have messages to send: what a lost command would have said. */
export async function listDevicesWithWork(
  db: Database,
  shards: number[],
): Promise<(DeviceState & { hasWaiting: boolean })[]> {
  return db.$client<(DeviceState & { hasWaiting: boolean })[]>`
    SELECT ${columns(db)}, ${hasDueMessage(db.$client, 'device')} AS "hasWaiting" FROM ${devicesOfAccounts(db)}
    WHERE device.shard = ANY(${shards}) AND (${wantsOwner(db)} OR ${hasDueMessage(db.$client, 'device')})`
}

const wantsOwner = (db: Database) => db.$client`(
  device.has_credentials
  OR device.deleted_at IS NOT NULL
  OR (device.desired = 'linked' AND device.pairing_until > now())
  OR EXISTS (SELECT 1 FROM device_auth WHERE device_id = device.id AND type = 'creds'))`

/** The number of linked devices by shard; shards without one are left out. */
export async function countLinkedDevices(db: Database, shards: number[]): Promise<Map<number, number>> {
  const rows = await db.$client<{ shard: number; linked: number }[]>`
    SELECT shard, count(*)::int AS linked FROM devices
    WHERE shard = ANY(${shards}) AND has_credentials GROUP BY shard`
  return new Map(rows.map(({ shard, linked }) => [shard, linked]))
}

type Connection = 'offline' | 'connecting' | 'scanning' | 'online'

/** Without a grace the device counts as away for longer than any, until it is online again. */
export async function setConnection(
  db: Database,
  fence: Fence,
  deviceId: number,
  {
    connection,
    reason,
    hasGrace = true,
  }: { connection: Connection; reason: string | null; hasGrace?: boolean },
): Promise<void> {
  const isOnline = connection === 'online'
  await fenced(
    fence,
    db.$client`
    WITH fence AS (${fenceOf(db.$client, fence)})
    UPDATE devices SET connection = ${connection}, status_reason = ${reason},
      offline_since = CASE WHEN ${isOnline} OR NOT has_credentials THEN NULL
        WHEN ${hasGrace} THEN coalesce(offline_since, now()) ELSE 'epoch' END,
      last_seen_at = CASE WHEN ${isOnline} THEN now() ELSE last_seen_at END
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}

/** Values of device_auth are stored with the row that says they exist. */
type SealedCreds = { type: string; id: string; value: Buffer | null }

/** `desiredRev`: the wish whose QR code was scanned. */
type ScannedLink = { desiredRev: number; creds: SealedCreds }

/**
 * A phone scanned: from here on the device is linked and its messages belong to a new generation. A link whose wish
 * was called off meanwhile is kept only to be logged out, and a newer wish still waits for its own scan.
 */
export async function linkDevice(
  db: Database,
  fence: Fence,
  deviceId: number,
  link: ScannedLink & { waJid: string; waLid: string | null },
): Promise<void> {
  const sql = db.$client
  const isWanted = sql`desired_rev = ${link.desiredRev}`
  await fenced(
    fence,
    sql`
    WITH fence AS (${fenceOf(sql, fence)}), stored AS (${storeCreds(db, deviceId, link.creds)})
    UPDATE devices SET has_credentials = true, link_generation = link_generation + 1,
      revoked_generation = CASE WHEN ${isWanted} THEN revoked_generation ELSE link_generation + 1 END,
      pairing_until = CASE WHEN ${isWanted} THEN NULL ELSE pairing_until END,
      wa_jid = ${link.waJid}, wa_lid = ${link.waLid}, connection = 'connecting', offline_since = now(),
      status_reason = NULL
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}

/** A phone with another number scanned: its credentials are kept only to log it out again. */
export async function refuseLink(
  db: Database,
  fence: Fence,
  deviceId: number,
  link: ScannedLink & { reason: string },
): Promise<void> {
  const sql = db.$client
  const isWanted = sql`desired_rev = ${link.desiredRev}`
  await fenced(
    fence,
    sql`
    WITH fence AS (${fenceOf(sql, fence)}), stored AS (${storeCreds(db, deviceId, link.creds)})
    UPDATE devices SET pairing_until = CASE WHEN ${isWanted} THEN NULL ELSE pairing_until END,
      connection = 'offline',
      status_reason = CASE WHEN ${isWanted} THEN ${link.reason} ELSE status_reason END
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}

const storeCreds = (db: Database, deviceId: number, { type, id, value }: SealedCreds) => db.$client`
  INSERT INTO device_auth (device_id, type, id, value)
  SELECT ${deviceId}::int, ${type}, ${id}, ${value} FROM fence
  ON CONFLICT ON CONSTRAINT device_auth_pk DO UPDATE SET value = excluded.value, used_on = excluded.used_on`

/** Nobody scanned in time. Misses when the API has asked anew meanwhile. */
export async function endPairing(
  db: Database,
  fence: Fence,
  deviceId: number,
  seen: { desiredRev: number; reason: string | null },
): Promise<void> {
  const sql = db.$client
  await sql`
    WITH fence AS (${fenceOf(sql, fence)})
    UPDATE devices SET pairing_until = NULL, connection = 'offline', status_reason = ${seen.reason}
    FROM fence WHERE id = ${deviceId} AND desired_rev = ${seen.desiredRev} AND NOT has_credentials`
}

/** Rows of device_auth: six a contact, so a sender may have hundreds of thousands. */
const keysMax = 5000

/**
 * Forgets the credentials and keys of the device; the record stays. Deletes a bounded number of keys at a time and
 * is to be called again while it answers false. The credentials go with the last of them: whoever takes over in
 * between finds a device that is still to be wiped. `reason` null keeps the one that is stored.
 */
export async function wipeCredentials(
  db: Database,
  fence: Fence,
  deviceId: number,
  reason: string | null,
): Promise<boolean> {
  const sql = db.$client
  const [row] = await sql<{ isOwner: boolean; isWiped: boolean }[]>`
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
    unlinked AS (
      UPDATE devices SET has_credentials = false, connection = 'offline', offline_since = NULL,
        status_reason = coalesce(${reason}, status_reason), wa_jid = NULL, wa_lid = NULL
      FROM few WHERE devices.id = ${deviceId}
    )
    SELECT EXISTS (SELECT FROM fence) AS "isOwner", EXISTS (SELECT FROM few) AS "isWiped"`
  if (!row?.isOwner) throw new OwnershipLost(fence)
  return row.isWiped
}

/**
 * Removes a deleted device that is unlinked and wiped; its messages stay readable. Misses while a message waits or
 * keys exist: the next look deals with them.
 */
export async function removeDevice(db: Database, fence: Fence, deviceId: number): Promise<void> {
  const sql = db.$client
  await sql`
    WITH fence AS (${fenceOf(sql, fence)})
    DELETE FROM devices AS device USING fence
    WHERE device.id = ${deviceId} AND device.deleted_at < now() - ${removalDelay}::interval
      AND NOT EXISTS (SELECT 1 FROM device_auth WHERE device_id = device.id)
      AND NOT ${hasWaitingMessage(sql, 'device')}`
}

/** WhatsApp restricts the sender for this long from now. */
export async function setRestricted(
  db: Database,
  fence: Fence,
  deviceId: number,
  forMs: number,
): Promise<void> {
  const sql = db.$client
  await fenced(
    fence,
    sql`
    WITH fence AS (${fenceOf(sql, fence)})
    UPDATE devices SET restricted_until = now() + ${forMs} * interval '1 ms'
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}

async function fenced(fence: Fence, statement: PromiseLike<readonly unknown[]>): Promise<void> {
  const rows = await statement
  if (rows.length === 0) throw new OwnershipLost(fence)
}
