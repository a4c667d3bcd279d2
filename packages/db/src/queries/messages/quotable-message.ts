import { earlierMessageId, messageIdOf, timeOfMessageId } from '@wagate/shared/ids'
import { type QuotedMessage, quotedCharsMax } from '@wagate/shared/objects/message-content'
import { phoneForms } from '@wagate/shared/phone'
import type { Database } from '../../client.ts'
import { isCreatedAround } from './message-time.ts'

/**
 * `id` is the message_id, or the id at WhatsApp. `contact`: the key of the recipient, and its LID with `@lid`. Without it, the
 * contact of the quoted message is the recipient.
 */
type Wanted = { sender: string; contact: { key: string; lidJid: string | null } | undefined; id: string }

/** `contact`: the key of the other party. `lidJid`: its LID, if it is addressed by that. */
export type Quotable = { quoted: QuotedMessage; contactKey: string; lidJid: string | null }

const isMessageId = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i

/**
 * What a message to this contact can quote: one of the same chat that its recipient may have. Found by the id alone, as in
 * message-history.ts.
 */
export async function findQuotable(
  db: Database,
  accountId: number,
  { sender, contact, id }: Wanted,
): Promise<Quotable | undefined> {
  const sql = db.$client
  const ids = isMessageId.test(id) ? [id] : ownIdsOf(id, sender)
  const isWanted =
    ids.length > 0
      ? sql`id = ANY (${ids}::uuid[]) AND ${isCreatedAround(sql, ids.map(timeOfMessageId))}`
      : sql`wa_id = ${id} AND direction = 'in'
        AND device_id IN (SELECT id FROM devices WHERE account_id = ${accountId} AND sender = ${sender})`
  const isOfContact = contact
    ? sql`AND (recipient_jid = ${contact.lidJid}
        OR number = ANY (${phoneForms(contact.key)}::text[]))`
    : // The version before this one stored messages from LIDs without a number.
      sql`AND (number <> '' OR recipient_jid LIKE '%@lid')`
  const [row] = await sql<(QuotedMessage & { contactKey: string; lidJid: string | null })[]>`
    SELECT number AS "contactKey", CASE WHEN recipient_jid LIKE '%@lid' THEN recipient_jid END AS "lidJid", wa_id AS wa_message_id, id AS message_id, direction = 'out' AS from_me, type,
      left(body, ${quotedCharsMax}) AS text
    FROM messages
    WHERE account_id + 0 = ${accountId} AND sender = ${sender} AND ${isWanted}
      ${isOfContact}
      AND status NOT IN ('failed', 'canceled')
    LIMIT 1`
  if (!row) return undefined
  const { contactKey, lidJid, ...quoted } = row
  return { quoted, contactKey, lidJid }
}

function ownIdsOf(waId: string, sender: string): string[] {
  const id = messageIdOf(waId, sender)
  return id ? [id, earlierMessageId(id)] : []
}
