import type { Database } from '@wagate/db/client'
import { findQuotable } from '@wagate/db/queries/messages/quotable-message'
import type { QuotedMessage } from '@wagate/shared/objects/message-content'
import { AppError } from '../errors/app-error.ts'

type Reply = { sender: string; number: string; reply_to?: string | undefined }

/** `fault`: there is no message to quote in this chat. */
export async function findQuoted(
  { context, principal }: { context: { db: Database }; principal: { accountId: number } },
  { sender, number, reply_to }: Reply,
): Promise<{ quoted: QuotedMessage | null; fault?: AppError }> {
  if (reply_to === undefined) return { quoted: null }
  const quoted = await findQuotable(context.db, principal.accountId, { sender, number, id: reply_to })
  if (quoted) return { quoted }
  const sentence = 'There is no message with the ID in reply_to between this sender and this number.'
  return { quoted: null, fault: new AppError('message_not_found', sentence) }
}
