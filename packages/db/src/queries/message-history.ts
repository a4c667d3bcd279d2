import { timeOfMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import { and, desc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { messages } from '../schema/messages.ts'
import { receivedMedia } from '../schema/received-media.ts'
import { createdAround } from './message-time.ts'
import { wasDropped } from './partitions.ts'
import { isScheduled, reportedStatus } from './reported-status.ts'

const columns = {
  id: messages.id,
  deviceId: messages.deviceId,
  sender: messages.sender,
  number: messages.number,
  contactJid: messages.recipientJid,
  direction: messages.direction,
  type: messages.type,
  body: messages.body,
  url: messages.url,
  media: {
    accountId: receivedMedia.accountId,
    state: receivedMedia.state,
    reason: receivedMedia.reason,
    mime: receivedMedia.mime,
    filename: receivedMedia.filename,
    size: receivedMedia.size,
    sha256: sql<string | null>`encode(${receivedMedia.sha256}, 'hex')`,
  },
  status: sql<MessageStatus>`${sql.raw(reportedStatus('messages'))}`,
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

/** A position in the history. `createdAt` is text because a Date would lose the microseconds. */
export type HistoryPosition = { id: string; createdAt: string }

export type HistoryMessage = Awaited<ReturnType<typeof readPage>>[number]

/** `next` is the id of the message after which the next page begins. Undefined when no older messages exist. */
export type HistoryPage = { messages: HistoryMessage[]; next: string | undefined }

/**
 * How many rows one page reads for a filter without an index, such as a rare status. The page may then have fewer
 * messages than requested, or none, and still a `next`. The messages of one sender are spread over the table, so each may
 * need a read from the disk.
 */
const rowsMax = 500

/** The messages that are older than `before`, newest first. */
export async function listMessages(
  db: Database,
  accountId: number,
  query: HistoryFilter & { before: HistoryPosition | undefined; limit: number },
): Promise<HistoryPage> {
  const { before, limit, ...filter } = query
  const indexed = and(eq(messages.accountId, accountId), isOlder(before), ...indexedConditions(filter))
  const others = otherConditions(filter)
  const floor = others.length > 0 ? await findFloor(db, indexed) : undefined
  const found = await readPage(db, and(indexed, floor && isNotOlder(floor), ...others), limit + 1)
  const shown = found.slice(0, limit)
  return { messages: shown, next: found.length > limit ? shown.at(-1)?.id : floor?.id }
}

function selectMessages(db: Database) {
  return db.select(columns).from(messages).leftJoin(receivedMedia, eq(receivedMedia.messageId, messages.id))
}

function readPage(db: Database, where: SQL | undefined, limit: number) {
  return selectMessages(db).where(where).orderBy(desc(messages.createdAt), desc(messages.id)).limit(limit)
}

/** The last row that one page reads. Undefined when there are fewer rows. */
async function findFloor(db: Database, indexed: SQL | undefined): Promise<HistoryPosition | undefined> {
  const [floor] = await db
    .select({ id: messages.id, createdAt: sql<string>`${messages.createdAt}::text` })
    .from(messages)
    .where(indexed)
    .orderBy(desc(messages.createdAt), desc(messages.id))
    .limit(1)
    .offset(rowsMax - 1)
  return floor
}

/** The conditions that messages_number, messages_failed or messages_sender answers, in the order of the pages. */
function indexedConditions({ sender, number, status }: HistoryFilter): SQL[] {
  if (number !== undefined) return [eq(messages.number, number)]
  if (status === 'failed') return [isNotNull(messages.errorCode)]
  return sender === undefined ? [] : [eq(messages.sender, sender)]
}

function otherConditions({ sender, number, status }: HistoryFilter): (SQL | undefined)[] {
  const isSenderIndexed = number === undefined && status !== 'failed'
  return [
    ...(sender === undefined || isSenderIndexed ? [] : [eq(messages.sender, sender)]),
    ...(status === undefined ? [] : [hasStatus(status)]),
  ]
}

/** Postgres excludes partitions by the first comparison: it does not use pairs for that. */
function isOlder(position: HistoryPosition | undefined): SQL | undefined {
  if (!position) return undefined
  const at = sql`${position.createdAt}::timestamptz`
  return sql`${messages.createdAt} <= ${at} AND (${messages.createdAt}, ${messages.id}) < (${at}, ${position.id}::uuid)`
}

function isNotOlder(position: HistoryPosition): SQL {
  const at = sql`${position.createdAt}::timestamptz`
  return sql`${messages.createdAt} >= ${at} AND (${messages.createdAt}, ${messages.id}) >= (${at}, ${position.id}::uuid)`
}

export async function findMessage(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<HistoryMessage | undefined> {
  const [message] = await selectMessages(db).where(
    and(eq(messages.accountId, accountId), eq(messages.id, messageId), createdAround(messageId)),
  )
  return message
}

/** By their ids. Messages that retention has removed are missing. */
export async function findMessages(
  db: Database,
  accountId: number,
  messageIds: string[],
): Promise<Map<string, HistoryMessage>> {
  if (messageIds.length === 0) return new Map()
  const found = await selectMessages(db).where(
    and(eq(messages.accountId, accountId), inArray(messages.id, messageIds), createdAround(...messageIds)),
  )
  return new Map(found.map((message) => [message.id, message]))
}

function hasStatus(status: MessageStatus): SQL | undefined {
  const isForLater = sql.raw(isScheduled('messages'))
  if (status === 'scheduled') return and(eq(messages.status, 'queued'), isForLater)
  if (status === 'queued') return and(eq(messages.status, 'queued'), sql`NOT ${isForLater}`)
  return eq(messages.status, status)
}

/** Also of a message that retention has removed: its id tells its time. */
export async function findHistoryPosition(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<HistoryPosition | undefined> {
  const [position] = await db
    .select({ id: messages.id, createdAt: sql<string>`${messages.createdAt}::text` })
    .from(messages)
    .where(and(eq(messages.accountId, accountId), eq(messages.id, messageId), createdAround(messageId)))
  if (position) return position
  const createdAtMs = timeOfMessageId(messageId)
  if (!(await wasDropped(db.$client, 'messages', createdAtMs))) return undefined
  return { id: messageId, createdAt: new Date(createdAtMs).toISOString() }
}
