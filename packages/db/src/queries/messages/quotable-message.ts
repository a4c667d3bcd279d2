import { earlierMessageId, messageIdOf, timeOfMessageId } from '@wagate/shared/ids'
import { type QuotedMessage, quotedCharsMax } from '@wagate/shared/objects/message-content'
import type { Database } from '../../client.ts'
import { numberForms } from '../contacts/number-forms.ts'
import { isCreatedAround } from './message-time.ts'

/** `id` is the message_id, or the id at WhatsApp. */
type Wanted = { sender: string; number: string; id: string }

const isMessageId = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i

/**
 * What a message to this number can quote: one of the same chat that its recipient may have. Found by the id alone, as in
 * message-history.ts.
 */
export async function findQuotable(
  db: Database,
  accountId: number,
  { sender, number, id }: Wanted,
): Promise<QuotedMessage | undefined> {
  const sql = db.$client
  const ids = isMessageId.test(id) ? [id] : ownIdsOf(id, sender)
  const isWanted =
    ids.length > 0
      ? sql`id = ANY (${ids}::uuid[]) AND ${isCreatedAround(sql, ids.map(timeOfMessageId))}`
      : sql`wa_id = ${id} AND direction = 'in'
        AND device_id IN (SELECT id FROM devices WHERE account_id = ${accountId} AND sender = ${sender})`
  const [row] = await sql<QuotedMessage[]>`
    SELECT wa_id AS wa_message_id, id AS message_id, direction = 'out' AS from_me, type,
      left(body, ${quotedCharsMax}) AS text
    FROM messages
    WHERE account_id + 0 = ${accountId} AND sender = ${sender} AND ${isWanted}
      AND number IN (SELECT form FROM ${numberForms(sql, sql`${number}::text`)} AS forms (form))
      AND status NOT IN ('failed', 'canceled')
    LIMIT 1`
  return row
}

function ownIdsOf(waId: string, sender: string): string[] {
  const id = messageIdOf(waId, sender)
  return id ? [id, earlierMessageId(id)] : []
}
