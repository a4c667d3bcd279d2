import { timeOfMessageId } from '@wagate/shared/ids'
import { phoneForms } from '@wagate/shared/phone'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { type Told, toldAccounts, wakeReaders } from '../devices/device-event-rows.ts'
import { insertMessageEvents } from '../statements/event-rows.ts'
import { expectOwner, type Fence, fenceOf } from '../statements/fence.ts'
import { isCreatedAround } from './message-time.ts'

/** `requested`: how many messages are still to be marked as read, also by earlier requests. */
export type ReadRequest = { deviceId: number; requested: number }

/** Bounds what one request reads and writes. */
export const readChatMax = { messages: 1000, days: 30 }

/** Undefined when the account has received no such message. */
export async function requestRead(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<ReadRequest | undefined> {
  const sql = db.$client
  const [found] = await sql<ReadRequest[]>`
    -- By its id alone: with the other conditions, Postgres might read all that the account has received.
    WITH message AS MATERIALIZED (
      SELECT * FROM messages WHERE id = ${messageId} AND ${isCreatedAround(sql, [timeOfMessageId(messageId)])}
    ),
    found AS (
      SELECT message.id, message.created_at, message.device_id,
        message.read_at IS NULL AND device.id IS NOT NULL AS is_wanted
      FROM message
      LEFT JOIN devices AS device ON device.id = message.device_id AND device.deleted_at IS NULL
      WHERE message.account_id = ${accountId} AND message.direction = 'in'
    ),
    unread AS (SELECT * FROM found WHERE is_wanted),
    requested AS (${insertUnread(sql)})
    SELECT device_id AS "deviceId", is_wanted::int AS requested FROM found`
  return found
}

/** Of what the sender has received from the contact of this key, the newest. Undefined when the account has no such sender. */
export async function requestReadOfChat(
  db: Database,
  accountId: number,
  { sender, key }: { sender: string; key: string },
): Promise<ReadRequest | undefined> {
  const sql = db.$client
  const [found] = await sql<ReadRequest[]>`
    WITH device AS (
      SELECT id FROM devices
      WHERE account_id = ${accountId} AND sender = ANY (${phoneForms(sender)}::text[]) AND deleted_at IS NULL
      ORDER BY sender = ${sender} DESC LIMIT 1
    ),
    unread AS (
      SELECT message.id, message.created_at, message.device_id
      FROM messages AS message JOIN device ON device.id = message.device_id
      WHERE message.account_id = ${accountId} AND message.direction = 'in' AND message.read_at IS NULL
        AND message.number = ANY (${phoneForms(key)}::text[])
        AND message.created_at >= now() - ${readChatMax.days} * interval '1 day'
      ORDER BY message.created_at DESC, message.id DESC
      LIMIT ${readChatMax.messages}
    ),
    requested AS (${insertUnread(sql)})
    SELECT id AS "deviceId", (SELECT count(*)::int FROM unread) AS requested FROM device`
  return found
}

/** Of the relation `unread`, in the order in which concurrent requests insert as well. */
const insertUnread = (sql: postgres.Sql) => sql`
  INSERT INTO read_requests (message_id, message_at, device_id)
  SELECT id, created_at, device_id FROM unread ORDER BY id
  ON CONFLICT (message_id) DO NOTHING`

/** `waId` is null when retention has removed the message. */
export type RequestedRead = {
  messageId: string
  waId: string | null
  number: string | null
  contactJid: string | null
}

/** The oldest first. */
export async function listReadRequests(
  db: Database,
  deviceId: number,
  limit: number,
): Promise<RequestedRead[]> {
  return db.$client<RequestedRead[]>`
    SELECT request.message_id AS "messageId", message.wa_id AS "waId", message.number,
      message.recipient_jid AS "contactJid"
    FROM read_requests AS request
    LEFT JOIN messages AS message ON message.id = request.message_id AND message.created_at = request.message_at
    WHERE request.device_id = ${deviceId}
    ORDER BY request.message_at, request.message_id
    LIMIT ${limit}`
}

/**
 * Ends the requests for all these messages, and records that those of `read` are read, each with an event. Throws
 * OwnershipLost.
 */
export async function endReadRequests(
  db: Database,
  fence: Fence,
  deviceId: number,
  { read, dropped }: { read: string[]; dropped: string[] },
): Promise<void> {
  const sql = db.$client
  const rows = await expectOwner(
    fence,
    sql<Told[]>`
      WITH fence AS (${fenceOf(sql, fence)}),
      ended AS (
        DELETE FROM read_requests USING fence
        WHERE device_id = ${deviceId} AND message_id = ANY (${[...read, ...dropped]}::uuid[])
        RETURNING message_id, message_at
      ),
      marked AS (
        UPDATE messages SET read_at = now() FROM ended
        WHERE messages.id = ended.message_id AND messages.created_at = ended.message_at
          AND ended.message_id = ANY (${read}::uuid[]) AND messages.read_at IS NULL
        RETURNING messages.id, messages.account_id, messages.device_id
      ),
      told AS (${insertMessageEvents(sql, 'message.marked_read', 'marked')} RETURNING account_id)
      SELECT ${toldAccounts(sql)} FROM fence`,
  )
  wakeReaders(db, rows)
}
