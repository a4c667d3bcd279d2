import type { Database } from '../../client.ts'
import { type Fence, fencesOf, leaseColumns, leaseKey, OwnershipLost } from '../statements/fence.ts'
import { type Columns, rows } from '../statements/rows.ts'
import { redeliveryDays } from './known-messages.ts'

/** What a contact says of a message that the account has written on its phone, or on another linked device. */
export type PhoneReceipt = {
  fence: Fence
  deviceId: number
  waId: string
  status: 'delivered' | 'read' | 'played'
  /** ISO 8601, by WhatsApp's clock. A time before the message or after now is corrected. */
  at: string
  saidBy: { jid: string; otherJid: string | null }
}

/** `unknown`: the account has written no such message to this contact. */
export type PhoneReceiptResult = 'recorded' | 'unknown' | OwnershipLost

/**
 * Records receipts in one statement. A status only moves forward. There are no events: those of delivered and read messages
 * are about messages of the gateway.
 */
export async function recordPhoneReceipts(
  db: Database,
  receipts: PhoneReceipt[],
): Promise<PhoneReceiptResult[]> {
  const sql = db.$client
  const corrected = (at: string) =>
    sql.unsafe(`least(now(), greatest(coalesce(message.written_at, message.created_at), ${at}))`)
  const [answer] = await sql<{ leases: string[]; recorded: string[] }[]>`
    WITH valid AS (${fencesOf(
      sql,
      receipts.map(({ fence }) => fence),
    )}),
    given AS (SELECT receipt.* FROM valid JOIN ${rows(sql, 'receipt', receipts, receiptColumns)} USING (shard, epoch)),
    found AS (
      SELECT known.id, known.created_at, given.device_id || ' ' || given.wa_id AS key, max(rank) AS rank,
        min(at::timestamptz) AS delivered_at,
        min(at::timestamptz) FILTER (WHERE rank >= 3) AS read_at,
        min(at::timestamptz) FILTER (WHERE rank = 4) AS played_at
      FROM given JOIN messages AS known ON known.device_id = given.device_id AND known.wa_id = given.wa_id
        AND known.source IS NOT NULL AND known.created_at >= now() - ${redeliveryDays} * interval '1 day'
        AND ARRAY[known.recipient_jid, known.number || '@s.whatsapp.net'] && ARRAY[jid, other_jid]
      GROUP BY known.id, known.created_at, key
    ),
    recorded AS (
      UPDATE messages AS message SET
        status = CASE WHEN found.rank >= 3 OR message.status = 'read' THEN 'read' ELSE 'delivered' END,
        delivered_at = coalesce(message.delivered_at, ${corrected('found.delivered_at')}),
        read_at = coalesce(message.read_at, CASE WHEN found.rank >= 3 THEN ${corrected('found.read_at')} END),
        played_at = coalesce(message.played_at, CASE WHEN found.rank = 4 THEN ${corrected('found.played_at')} END)
      FROM found WHERE message.id = found.id AND message.created_at = found.created_at
      RETURNING found.key
    )
    SELECT ARRAY(SELECT shard || ' ' || epoch FROM valid) AS leases, ARRAY(SELECT key FROM recorded) AS recorded`
  const validLeases = new Set(answer?.leases)
  const recorded = new Set(answer?.recorded)
  return receipts.map(({ fence, deviceId, waId }) => {
    if (!validLeases.has(leaseKey(fence))) return new OwnershipLost(fence)
    return recorded.has(`${deviceId} ${waId}`) ? 'recorded' : 'unknown'
  })
}

const ranks = { delivered: 2, read: 3, played: 4 } as const

const receiptColumns: Columns<PhoneReceipt> = {
  ...leaseColumns,
  device_id: ['int', ({ deviceId }) => deviceId],
  wa_id: ['text', ({ waId }) => waId],
  rank: ['int', ({ status }) => ranks[status]],
  at: ['text', ({ at }) => at],
  jid: ['text', ({ saidBy }) => saidBy.jid],
  other_jid: ['text', ({ saidBy }) => saidBy.otherJid],
}
