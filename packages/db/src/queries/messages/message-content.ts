import { earlierMessageId, timeOfMessageId } from '@wagate/shared/ids'
import type { MessageType } from '@wagate/shared/message-kinds'
import type { QuotedMessage } from '@wagate/shared/objects/message-content'
import type { Database } from '../../client.ts'
import { type Fence, fenceOf } from '../statements/fence.ts'
import { isCreatedAround } from './message-time.ts'

/** After an upload. A resend needs only this, so the bytes that came with the request are deleted. */
export async function storeUploadedContent(
  db: Database,
  fence: Fence,
  message: { id: string; createdAt: string; content: Buffer },
): Promise<void> {
  const sql = db.$client
  await sql`
    WITH fence AS (${fenceOf(sql, fence)}),
    dropped AS (DELETE FROM media_blobs USING fence WHERE message_id = ${message.id})
    UPDATE messages SET uploaded_content = ${message.content}, held_epoch = NULL, interruptions = 0
    FROM fence WHERE id = ${message.id} AND created_at = ${message.createdAt}::timestamptz`
}

export async function findUploadedContent(
  db: Database,
  message: { id: string; createdAt: string },
): Promise<Buffer | undefined> {
  const [row] = await db.$client<{ content: Buffer | null }[]>`
    SELECT uploaded_content AS content FROM messages
    WHERE id = ${message.id} AND created_at = ${message.createdAt}::timestamptz`
  return row?.content ?? undefined
}

type SentContent = {
  id: string
  type: MessageType
  body: string | null
  uploadedContent: Buffer | null
  replyTo: QuotedMessage | null
  recipientJid: string
}

/** What was sent, for a recipient that requests it again. The message may be older than its id suggests. */
export async function findSentContent(
  db: Database,
  deviceId: number,
  messageId: string,
  /** The addresses of the contact that requests it. */
  requestedBy: string[],
): Promise<SentContent | undefined> {
  const sql = db.$client
  for (const id of [messageId, earlierMessageId(messageId)]) {
    const [row] = await sql<SentContent[]>`
      SELECT id, type, body, uploaded_content AS "uploadedContent", reply_to AS "replyTo",
        recipient_jid AS "recipientJid"
      FROM messages
      WHERE id = ${id} AND device_id = ${deviceId} AND direction = 'out'
        AND recipient_jid = ANY(${requestedBy}) AND status IN ('sending', 'sent', 'delivered', 'read')
        AND ${isCreatedAround(sql, [timeOfMessageId(id)])}`
    if (row) return row
  }
  return undefined
}
