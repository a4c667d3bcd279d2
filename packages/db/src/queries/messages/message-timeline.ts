import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../client.ts'
import { messages } from '../../schema/messages.ts'
import { receivedMedia } from '../../schema/received-media.ts'
import {
  type HistoryMessage,
  type HistoryPosition,
  historyColumns,
  isMessage,
  mediaOfMessage,
} from './message-history.ts'

export type TimedMessage = HistoryMessage & {
  /** How often it was claimed to be sent. */
  attempts: number
  /** See `parseTimeline`. */
  timeline: Buffer | null
}

const timedColumns = { ...historyColumns, attempts: messages.attempts, timeline: messages.timeline }

/** At least one of the two. Both must agree. */
export type MessageLocator = { message_id?: string | undefined; reference?: string | undefined }

/** Of several messages with the reference, the newest. */
export async function findTimedMessage(
  db: Database,
  accountId: number,
  { message_id: id, reference }: MessageLocator,
): Promise<TimedMessage | undefined> {
  if (id === undefined && reference === undefined) return undefined
  const [message] = await db
    .select(timedColumns)
    .from(messages)
    .leftJoin(receivedMedia, mediaOfMessage)
    .where(
      and(
        id === undefined ? eq(messages.accountId, accountId) : isMessage(accountId, id),
        reference === undefined ? undefined : eq(messages.reference, reference),
      ),
    )
    .orderBy(desc(messages.createdAt), desc(messages.id))
    .limit(1)
  return message
}

/** The oldest ones after this position, with the position from which the next page continues. */
export async function listTimedMessages(
  db: Database,
  accountId: number,
  after: HistoryPosition | undefined,
  limit: number,
): Promise<{ messages: TimedMessage[]; next: HistoryPosition | undefined }> {
  const found = await db
    .select({ ...timedColumns, position: sql<string>`${messages.createdAt}::text` })
    .from(messages)
    .leftJoin(receivedMedia, mediaOfMessage)
    .where(and(eq(messages.accountId, accountId), after && isAfter(after)))
    .orderBy(asc(messages.createdAt), asc(messages.id))
    .limit(limit)
  const last = found.at(-1)
  const next = last && found.length === limit ? { id: last.id, createdAt: last.position } : undefined
  return { messages: found.map(({ position: _, ...message }) => message), next }
}

/** Postgres excludes partitions by the first comparison. */
function isAfter({ createdAt, id }: HistoryPosition): SQL {
  const at = sql`${createdAt}::timestamptz`
  return sql`${messages.createdAt} >= ${at} AND (${messages.createdAt}, ${messages.id}) > (${at}, ${id}::uuid)`
}
