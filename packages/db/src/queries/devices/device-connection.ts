import type { StatusReason } from '@wagate/shared/statuses'
import type { Database } from '../../client.ts'
import { expectOwner, type Fence, fenceOf, fencesOf } from '../statements/fence.ts'
import {
  insertStatusEvents,
  lockedDevice,
  type Told,
  toldAccounts,
  wakeReaders,
} from './device-event-rows.ts'
import { isLinkedIn } from './linked-device.ts'

type Connection = 'offline' | 'connecting' | 'scanning' | 'online'

/** No login while all of these that are not null hold. At least one of them is not. */
type LoginBlock = {
  /** For this long from now. */
  forMs: number | null
  /** While the desired state has this revision. */
  rev: number | null
  /** While the client has this version. */
  version: string | null
}

export type ConnectionChange = {
  connection: Connection
  reason: string | null
  /** What WhatsApp said besides the reason. */
  detail?: string | null
  /** False: the device is reported as disconnected at once, until it is online again. */
  hasGrace?: boolean
  /** Of `online`: that of the device when the login began. */
  sessionRev?: number
  /** Without one, an earlier block ends. */
  block?: LoginBlock
}

const noBlock: LoginBlock = { forMs: null, rev: null, version: null }

/** Within the grace period, a device that was connected is still reported as connected, so it has no event yet. */
export async function setConnection(
  db: Database,
  fence: Fence,
  deviceId: number,
  { connection, reason, detail = null, hasGrace = true, sessionRev = 0, block = noBlock }: ConnectionChange,
): Promise<void> {
  const sql = db.$client
  const isOnline = connection === 'online'
  const rows = await expectOwner(
    fence,
    sql<Told[]>`
    WITH fence AS (${fenceOf(sql, fence)}), before AS MATERIALIZED (${lockedDevice(sql, deviceId)}),
    changed AS (
      UPDATE devices SET connection = ${connection}, status_reason = ${reason}, status_detail = ${detail},
        pairing_step = NULL, login_after = now() + ${block.forMs}::float8 * interval '1 ms',
        login_blocked_rev = ${block.rev}, login_blocked_version = ${block.version},
        offline_since = CASE WHEN ${isOnline} OR NOT has_credentials THEN NULL
          WHEN ${hasGrace} THEN coalesce(offline_since, now()) ELSE 'epoch' END,
        connected_session_rev = CASE WHEN ${isOnline} THEN ${sessionRev} ELSE connected_session_rev END,
        last_seen_at = CASE WHEN ${isOnline} THEN now() ELSE last_seen_at END,
        announced = CASE
          WHEN ${isLinkedIn(sql, 'devices')} THEN CASE
            WHEN ${isOnline} THEN 'connected'
            WHEN NOT ${hasGrace} OR announced <> 'connected' THEN coalesce(${reason}, announced)
            ELSE announced END
          WHEN ${connection} = 'scanning' AND desired = 'linked' AND pairing_until > now() THEN 'scanning'
          ELSE announced END
      FROM before WHERE devices.id = before.device_id RETURNING devices.*
    ),
    told AS (${insertStatusEvents(sql)})
    SELECT id, ${toldAccounts(sql)} FROM changed`,
  )
  wakeReaders(db, rows)
}

/**
 * Announces the devices of these shards whose grace period is over. No write marks that moment, so owners look for it.
 * Returns how many there were.
 */
export async function announceDisconnections(
  db: Database,
  fences: Fence[],
  statusGraceMs: number,
): Promise<number> {
  const sql = db.$client
  const rows = await sql<({ announced: number } & Told)[]>`
    WITH valid AS (${fencesOf(sql, fences)}),
    before AS MATERIALIZED (
      SELECT device.id AS device_id, device AS was FROM devices AS device JOIN valid USING (shard)
      WHERE ${isLinkedIn(sql, 'device')} AND device.connection <> 'online'
        AND coalesce(device.announced, 'connected') = 'connected'
        AND device.offline_since <= now() - ${statusGraceMs}::float8 * interval '1 ms'
      ORDER BY device.id FOR NO KEY UPDATE OF device
    ),
    changed AS (
      UPDATE devices SET announced = coalesce(status_reason, ${connectionLost})
      FROM before WHERE devices.id = before.device_id RETURNING devices.*
    ),
    told AS (${insertStatusEvents(sql)})
    SELECT count(*)::int AS announced, ${toldAccounts(sql)} FROM changed`
  wakeReaders(db, rows)
  return rows[0]?.announced ?? 0
}

/** After the loss of an owner, which could not say why. */
const connectionLost: StatusReason = 'connection_lost'
