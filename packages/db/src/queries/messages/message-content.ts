import { earlierMessageId, timeOfMessageId } from '@wagate/shared/ids'
import type { MessageType } from '@wagate/shared/message-kinds'
import type { QuotedMessage } from '@wagate/shared/objects/message-content'
import type { Database } from '../../client.ts'
import { type Fence, fenceOf } from '../statements/fence.ts'
import type { Columns } from '../statements/rows.ts'
import { isCreatedAround } from './message-time.ts'

/** What the content of a sent message is made from, besides an upload. Each kind of message uses some of it. */
export type SentContent = {
  type: MessageType
  body: string | null
  url: string | null
  filename: string | null
  replyTo: QuotedMessage | null
}

/** What is not given is null. */
export type NewContent = Pick<SentContent, 'type'> & Partial<SentContent>

/** The column of each field, and whether it is JSON. */
const columns: Record<keyof SentContent, { name: string; isJson?: boolean }> = {
  type: { name: 'type' },
  body: { name: 'body' },
  url: { name: 'url' },
  filename: { name: 'filename' },
  replyTo: { name: 'reply_to', isJson: true },
}
const fields = Object.keys(columns) as (keyof SentContent)[]

/** SQL: the columns. */
export const contentColumns = fields.map((field) => columns[field].name).join(', ')

/** SQL: the columns as a `SentContent`. */
export const storedContent = fields.map((field) => `${columns[field].name} AS "${field}"`).join(', ')

/** SQL: the values of the columns in a row that `givenContentColumns` makes. */
export const givenContent = fields
  .map((field) => (columns[field].isJson ? `${columns[field].name}::jsonb` : columns[field].name))
  .join(', ')

export const givenContentColumns: Columns<NewContent> = Object.fromEntries(
  fields.map((field) => [columns[field].name, ['text', (content: NewContent) => textOf(content[field])]]),
)

function textOf(value: NewContent[keyof SentContent]): string | null {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null)
}

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
    UPDATE messages SET uploaded_content = ${message.content}, held_epoch = NULL, interruptions = 0,
      failing_since = NULL, retry_at = NULL
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

type SentMessage = SentContent & { id: string; uploadedContent: Buffer | null; recipientJid: string }

/** What was sent, for a recipient that requests it again. The message may be older than its id suggests. */
export async function findSentContent(
  db: Database,
  deviceId: number,
  messageId: string,
  /** The addresses of the contact that requests it. */
  requestedBy: string[],
): Promise<SentMessage | undefined> {
  const sql = db.$client
  for (const id of [messageId, earlierMessageId(messageId)]) {
    const [row] = await sql<SentMessage[]>`
      SELECT id, ${sql.unsafe(storedContent)}, uploaded_content AS "uploadedContent", recipient_jid AS "recipientJid"
      FROM messages
      WHERE id = ${id} AND device_id = ${deviceId} AND direction = 'out'
        AND deleted_at IS NULL AND recipient_jid = ANY(${requestedBy}) AND status IN ('sending', 'sent', 'delivered', 'read')
        AND ${isCreatedAround(sql, [timeOfMessageId(id)])}`
    if (row) return row
  }
  return undefined
}
