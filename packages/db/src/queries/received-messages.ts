import type { MessageType } from '@wagate/shared/statuses'
import type { Database } from '../client.ts'
import { type Fence, fencesOf, leaseColumns, leaseKey, OwnershipLost } from './fence.ts'
import { type Columns, numberedRows } from './rows.ts'

export type ReceivedMessage = {
  fence: Fence
  id: string
  accountId: number
  deviceId: number
  sender: string
  /** The number that sent it. */
  number: string
  type: MessageType
  body: string | null
  waId: string
  linkGeneration: number
}

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
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      messages.map(({ fence }) => fence),
    )}),
    given AS (
      SELECT DISTINCT ON (device_id, wa_id, number) row.*
      FROM valid JOIN ${numberedRows(sql, 'row', messages, rowColumns)} USING (shard, epoch)
      ORDER BY device_id, wa_id, number, position
    ),
    inserted AS (
      INSERT INTO messages
        (id, account_id, device_id, sender, number, direction, type, body, status, wa_id, link_generation)
      SELECT id, account_id, device_id, sender, number, 'in', type, body, 'received', wa_id, link_generation
      FROM given
      WHERE NOT EXISTS (
        SELECT FROM messages AS known
        WHERE known.device_id = given.device_id AND known.wa_id = given.wa_id AND known.number = given.number
          AND known.direction = 'in' AND known.created_at >= now() - ${redeliveryDays} * interval '1 day')
      ORDER BY position
    )
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
  number: ['text', ({ number }) => number],
  type: ['text', ({ type }) => type],
  body: ['text', ({ body }) => body],
  wa_id: ['text', ({ waId }) => waId],
  link_generation: ['int', ({ linkGeneration }) => linkGeneration],
}

export async function isReceived(
  db: Database,
  deviceId: number,
  { waId, number }: Pick<ReceivedMessage, 'waId' | 'number'>,
): Promise<boolean> {
  const found = await db.$client`
    SELECT FROM messages
    WHERE device_id = ${deviceId} AND wa_id = ${waId} AND number = ${number} AND direction = 'in'
      AND created_at >= now() - ${redeliveryDays} * interval '1 day'
    LIMIT 1`
  return found.length > 0
}
