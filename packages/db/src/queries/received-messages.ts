import type { MessageType } from '@wagate/shared/statuses'
import type { Database } from '../client.ts'
import { type Fence, fencesOf, leaseKey, OwnershipLost } from './fence.ts'

export type ReceivedMessage = {
  fence: Fence
  id: string
  accountId: number
  deviceId: number
  sender: string
  /** Who wrote it. */
  number: string
  type: MessageType
  body: string | null
  waId: string
  linkGeneration: number
}

/** WhatsApp keeps what it could not deliver for 30 days. Bounds the partitions that are searched for duplicates. */
const redeliveryDays = 31

/**
 * Stores received messages in one fenced statement, each once: WhatsApp delivers a message again until it was
 * acknowledged. The contact belongs to what identifies a message, because senders choose the ids. Answers for each
 * whether its owner still owned the shard; nothing of the others was stored.
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
      FROM valid JOIN unnest(
        ${messages.map(({ fence }) => fence.shard)}::int[],
        ${messages.map(({ fence }) => fence.epoch)}::bigint[],
        ${messages.map(({ id }) => id)}::uuid[],
        ${messages.map(({ accountId }) => accountId)}::int[],
        ${messages.map(({ deviceId }) => deviceId)}::int[],
        ${messages.map(({ sender }) => sender)}::text[],
        ${messages.map(({ number }) => number)}::text[],
        ${messages.map(({ type }) => type)}::text[],
        ${messages.map(({ body }) => body)}::text[],
        ${messages.map(({ waId }) => waId)}::text[],
        ${messages.map(({ linkGeneration }) => linkGeneration)}::int[]
      ) WITH ORDINALITY
        AS row (shard, epoch, id, account_id, device_id, sender, number, type, body, wa_id, link_generation, position)
        USING (shard, epoch)
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
