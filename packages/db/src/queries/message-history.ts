import type { MessageStatus } from '@wagate/shared/statuses'
import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { messages } from '../schema.ts'
import { createdAround } from './created-around.ts'

/** `scheduled` is `queued` with a moment to come. */
const reportedStatus = sql<MessageStatus>`CASE
  WHEN ${messages.status} = 'queued' AND ${messages.sendAt} > now() THEN 'scheduled' ELSE ${messages.status} END`

const columns = {
  id: messages.id,
  deviceId: messages.deviceId,
  sender: messages.sender,
  number: messages.number,
  direction: messages.direction,
  type: messages.type,
  body: messages.body,
  url: messages.url,
  status: reportedStatus,
  error: messages.error,
  errorCode: messages.errorCode,
  waId: messages.waId,
  createdAt: messages.createdAt,
  sentAt: messages.sentAt,
  deliveredAt: messages.deliveredAt,
  readAt: messages.readAt,
}

export type HistoryFilter = {
  sender?: string | undefined
  number?: string | undefined
  status?: MessageStatus | undefined
}

/** A place in the history; `createdAt` is text because a Date would lose the microseconds. */
export type HistoryPosition = { id: string; createdAt: string }

export type HistoryMessage = Awaited<ReturnType<typeof listMessages>>[number]

/** Newest first, those older than `before`. */
export async function listMessages(
  db: Database,
  accountId: number,
  { before, limit, ...filter }: HistoryFilter & { before: HistoryPosition | undefined; limit: number },
) {
  return db
    .select(columns)
    .from(messages)
    .where(
      and(
        eq(messages.accountId, accountId),
        before &&
          sql`(${messages.createdAt}, ${messages.id}) < (${before.createdAt}::timestamptz, ${before.id}::uuid)`,
        filter.sender === undefined ? undefined : eq(messages.sender, filter.sender),
        filter.number === undefined ? undefined : eq(messages.number, filter.number),
        filter.status && hasStatus(filter.status),
      ),
    )
    .orderBy(desc(messages.createdAt), desc(messages.id))
    .limit(limit)
}

export async function findMessage(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<HistoryMessage | undefined> {
  const [message] = await db
    .select(columns)
    .from(messages)
    .where(and(eq(messages.accountId, accountId), eq(messages.id, messageId), createdAround(messageId)))
  return message
}

function hasStatus(status: MessageStatus): SQL | undefined {
  const isScheduled = sql`coalesce(${messages.sendAt} > now(), false)`
  if (status === 'scheduled') return and(eq(messages.status, 'queued'), isScheduled)
  if (status === 'queued') return and(eq(messages.status, 'queued'), sql`NOT ${isScheduled}`)
  return eq(messages.status, status)
}

export async function findHistoryPosition(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<HistoryPosition | undefined> {
  const [position] = await db
    .select({ id: messages.id, createdAt: sql<string>`${messages.createdAt}::text` })
    .from(messages)
    .where(and(eq(messages.accountId, accountId), eq(messages.id, messageId), createdAround(messageId)))
  return position
}
