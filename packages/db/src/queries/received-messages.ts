import type { MessageType } from '@wagate/shared/statuses'
import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { insertMessageEvents } from './event-rows.ts'
import { type Fence, fencesOf, leaseColumns, leaseKey, OwnershipLost } from './fence.ts'
import { insertReceivedMedia, mediaColumns, type NewReceivedMedia } from './received-media-rows.ts'
import { type Columns, numberedRows } from './rows.ts'

export type ReceivedMessage = {
  fence: Fence
  id: string
  accountId: number
  deviceId: number
  sender: string
  /** The number that sent it. Null when WhatsApp does not tell it. */
  number: string | null
  /** The address that sent it, such as a LID, if it is known and not the number. */
  contactJid?: string | null
  type: MessageType
  body: string | null
  waId: string
  linkGeneration: number
  /** Its file, if it has one. */
  media?: NewReceivedMedia | undefined
}

/** What identifies a message among those of a device. */
export type ReceivedSource = Pick<ReceivedMessage, 'waId' | 'number' | 'contactJid'>

/** In the column `number`, which is never null. */
const unknownNumber = ''

/** WhatsApp keeps undelivered messages for 30 days. Limits the partitions that are searched for duplicates. */
const redeliveryDays = 31

/**
 * Stores received messages in one fenced statement, each once: WhatsApp delivers a message again until it is acknowledged.
 * The contact is part of a message's identity, because clients choose their ids. Returns an error for each message whose
 * owner had lost its shard; it was not stored.
 */
export async function insertReceivedMessages(
  db: Database,
  messages: ReceivedMessage[],
): Promise<(OwnershipLost | undefined)[]> {
  const sql = db.$client
  const hasMedia = messages.some(({ media }) => media !== undefined)
  const columns = hasMedia ? { ...rowColumns, ...mediaColumns } : rowColumns
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      messages.map(({ fence }) => fence),
    )}),
    given AS (
      SELECT DISTINCT ON (device_id, wa_id, number, contact_jid) row.*
      FROM valid JOIN ${numberedRows(sql, 'row', messages, columns)} USING (shard, epoch)
      ORDER BY device_id, wa_id, number, contact_jid, position
    ),
    inserted AS (
      INSERT INTO messages
        (id, account_id, device_id, sender, number, recipient_jid, direction, type, body, status, wa_id,
          link_generation)
      SELECT id, account_id, device_id, sender, number, contact_jid, 'in', type, body, 'received', wa_id,
        link_generation
      FROM given
      WHERE NOT EXISTS (
        SELECT FROM messages AS known
        WHERE known.device_id = given.device_id AND known.wa_id = given.wa_id
          AND known.direction = 'in' AND known.created_at >= now() - ${redeliveryDays} * interval '1 day'
          AND ${isFrom(sql, { number: sql`given.number`, contactJid: sql`given.contact_jid` })})
      ORDER BY position
      RETURNING id, account_id, device_id
    ),
    ${hasMedia ? sql`attached AS (${insertReceivedMedia(sql)}),` : sql``}
    announced AS (${insertMessageEvents(sql, 'message.received', 'inserted')})
    SELECT shard || ' ' || epoch AS lease FROM valid`
  const validLeases = new Set(valid.map(({ lease }) => lease))
  return messages.map(({ fence }) =>
    validLeases.has(leaseKey(fence)) ? undefined : new OwnershipLost(fence),
  )
}

const rowColumns: Columns<ReceivedMessage> = {
  ...leaseColumns,
  id: ['uuid', ({ id }) => id],
  account_id: ['int', ({ accountId }) => accountId],
  device_id: ['int', ({ deviceId }) => deviceId],
  sender: ['text', ({ sender }) => sender],
  number: ['text', ({ number }) => number ?? unknownNumber],
  contact_jid: ['text', ({ contactJid }) => contactJid ?? null],
  type: ['text', ({ type }) => type],
  body: ['text', ({ body }) => body],
  wa_id: ['text', ({ waId }) => waId],
  link_generation: ['int', ({ linkGeneration }) => linkGeneration],
}

export async function isReceived(
  db: Database,
  deviceId: number,
  { waId, number, contactJid }: ReceivedSource,
): Promise<boolean> {
  const found = await db.$client`
    SELECT FROM messages AS known
    WHERE device_id = ${deviceId} AND wa_id = ${waId} AND direction = 'in'
      AND created_at >= now() - ${redeliveryDays} * interval '1 day'
      AND ${isFrom(db.$client, {
        number: db.$client`${number ?? unknownNumber}::text`,
        contactJid: db.$client`${contactJid ?? null}::text`,
      })}
    LIMIT 1`
  return found.length > 0
}

/** A message may be delivered again with another of the addresses of its contact, or with both. */
function isFrom(
  sql: Database['$client'],
  { number, contactJid }: { number: postgres.Fragment; contactJid: postgres.Fragment },
): postgres.Fragment {
  // The version before this one stored a LID as the number.
  return sql`(known.number = nullif(${number}, ${unknownNumber}) OR known.recipient_jid = ${contactJid}
    OR known.number = split_part(${contactJid}, '@', 1))`
}
