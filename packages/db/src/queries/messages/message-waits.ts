import { timeOfMessageId } from '@wagate/shared/ids'
import { mediaTypes } from '@wagate/shared/message-kinds'
import { entryBytes, setbackMarks } from '@wagate/shared/timeline-marks'
import { holdMs } from '@wagate/shared/waiting-reasons'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { isKnownOrCounted } from '../contacts/contacts.ts'
import { numberForms } from '../contacts/number-forms.ts'
import { warmUpDay } from '../contacts/warm-up.ts'
import { isRecent } from '../devices/due-messages.ts'
import { isLinkedIn } from '../devices/linked-device.ts'
import { isPaused } from '../devices/sender-pause.ts'
import { tightestPace } from '../devices/tightest-pace.ts'
import { listOf } from '../statements/rows.ts'
import { isRunning } from '../statements/worker-state.ts'
import { isCreatedAround } from './message-time.ts'

/** What keeps all messages of a device, or all to new contacts. */
export type DeviceWait = {
  id: number
  isConnected: boolean
  isPaused: boolean
  pausedUntilMs: number | null
  loginAfterMs: number | null
  /** While WhatsApp lets it write to no new contacts. */
  restrictedUntilMs: number | null
  /** Null where the defaults count. */
  newContactsPerDay: number | null
  warmUpDay: number
  newContactsUsed: number
  isCapReached: boolean
}

type Fragment = postgres.PendingQuery<postgres.Row[]>

/** SQL: a moment in ms since 1970. */
const msOf = (sql: postgres.Sql, at: Fragment) => sql`(extract(epoch FROM ${at}) * 1000)::float8`

/** `dailyCap`: for devices and accounts without one; 0 is none. Counts no further than the cap. */
export async function listDeviceWaits(
  db: Database,
  accountId: number,
  deviceIds: number[],
  { dailyCap }: { dailyCap: number },
): Promise<DeviceWait[]> {
  const sql = db.$client
  const tightest = (column: string) => sql.unsafe(tightestPace(`device.${column}`, `account.${column}`))
  const today = sql`date_trunc('day', now(), 'UTC')`
  return sql<DeviceWait[]>`
    SELECT device.id, ${msOf(sql, sql`device.login_after`)} AS "loginAfterMs",
      ${isPaused(sql, 'device')} AS "isPaused", ${msOf(sql, sql`device.pause_until`)} AS "pausedUntilMs",
      device.connection = 'online' AND ${isLinkedIn(sql, 'device')} AND EXISTS (
        SELECT FROM shard_leases JOIN workers ON workers.id = shard_leases.owner
        WHERE shard_leases.shard = device.shard AND ${sql.unsafe(isRunning('workers'))}) AS "isConnected",
      ${msOf(sql, sql`nullif(greatest(device.restricted_until, CASE WHEN device.new_chats_capped THEN device.new_chats_until END, now()), now())`)}
        AS "restrictedUntilMs",
      ${tightest('new_contacts_per_day')} AS "newContactsPerDay", ${warmUpDay(sql)} AS "warmUpDay",
      (SELECT count(*)::int FROM new_contacts WHERE device_id = device.id AND created_at >= ${today}) AS "newContactsUsed",
      cap.messages > 0 AND cap.messages <= (
        SELECT count(*) FROM (
          SELECT FROM messages WHERE device_id = device.id AND sent_at >= ${today} AND ${isRecent(sql)} LIMIT cap.messages
        ) AS sent) AS "isCapReached"
    FROM devices AS device JOIN accounts AS account ON account.id = device.account_id,
      LATERAL (SELECT coalesce(${tightest('daily_cap')}, ${dailyCap}::int) AS messages) AS cap
    WHERE device.account_id = ${accountId} AND device.id = ANY(${listOf(deviceIds)}::int[])`
}

/** What keeps a message besides its device. */
export type MessageWait = {
  id: string
  deviceId: number
  status: 'queued' | 'sending'
  /** Of one that is due. */
  isScheduled: boolean
  sendAtMs: number | null
  /** Null unless it was asked. */
  isNewContact: boolean | null
  isBehind: boolean
  hasFile: boolean
  /** It is being prepared or sent. */
  isHeld: boolean
  /** When it is tried again, if its last attempt failed. */
  retryAtMs: number | null
}

/** As many of the last messages of its conversation are looked at: those that wait are among the newest. */
const conversationMax = 50

/** SQL: its last attempt has failed. */
const endsWithSetback = `coalesce(octet_length(message.timeline) > 0
  AND get_byte(message.timeline, octet_length(message.timeline) - ${entryBytes}) IN (${Object.values(setbackMarks).join(', ')}), false)`

/** `asked`: the devices whose new contacts wait. Leaves out messages that do not wait. */
export async function listMessageWaits(
  db: Database,
  accountId: number,
  messageIds: string[],
  asked: { restricted: number[]; usedUp: number[] },
): Promise<MessageWait[]> {
  const sql = db.$client
  const isIn = (devices: number[]) => sql`message.device_id = ANY(${listOf(devices)}::int[])`
  return sql<MessageWait[]>`
    SELECT message.id, message.device_id AS "deviceId", message.status, ${msOf(sql, sql`message.send_at`)} AS "sendAtMs",
      message.status = 'queued' AND coalesce(message.send_at > now(), false) AS "isScheduled",
      CASE WHEN ${isIn(asked.restricted)} THEN NOT ${isKnownOrCounted(sql, 'message', 'known')}
        WHEN ${isIn(asked.usedUp)} THEN NOT ${isKnownOrCounted(sql, 'message', 'known or counted')} END AS "isNewContact",
      EXISTS (
        SELECT FROM ${numberForms(sql, 'message.number')} AS forms (form) CROSS JOIN LATERAL (
          SELECT is_waiting, device_id, seq, priority, link_generation, send_at, failing_since FROM messages AS earlier
          WHERE earlier.account_id = message.account_id AND earlier.number = form AND ${isRecent(sql)}
            AND earlier.created_at <= message.created_at AND earlier.id <> message.id
          ORDER BY earlier.created_at DESC, earlier.id DESC LIMIT ${conversationMax}
        ) AS earlier
        WHERE earlier.is_waiting AND earlier.device_id = message.device_id AND earlier.seq < message.seq
          AND earlier.priority = message.priority
          AND earlier.link_generation = message.link_generation
          AND coalesce(earlier.send_at <= now(), true)
          AND coalesce(earlier.failing_since > now() - ${holdMs} * interval '1 ms', true)
      ) AS "isBehind",
      message.type = ANY(${mediaTypes}) AS "hasFile", message.held_epoch IS NOT NULL AND NOT ${sql.unsafe(endsWithSetback)} AS "isHeld",
      ${msOf(sql, sql`CASE WHEN message.retry_at > now() THEN message.retry_at END`)} AS "retryAtMs"
    FROM messages AS message
    WHERE message.account_id + 0 = ${accountId} AND message.id = ANY(${messageIds}::uuid[]) AND message.is_waiting
      AND ${isCreatedAround(sql, messageIds.map(timeOfMessageId), 'message')}`
}
