import { timeOfMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import { and, desc, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { messages } from '../schema.ts'
import { createdAround } from './created-around.ts'
import { wasDropped } from './partitions.ts'

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

export type HistoryMessage = Awaited<ReturnType<typeof readPage>>[number]

/** `next` is the id of the message behind which older ones follow; undefined when there are none. */
export type HistoryPage = { messages: HistoryMessage[]; next: string | undefined }

/**
 * How many rows one page looks at for a filter that no index knows, such as a status that most messages do not have.
 * The page may then have fewer messages than asked for, or none, and still a `next`. Those of one sender are all over
 * the table: each may have to be fetched from the disk by itself.
 */
const rowsMax = 500

/** Newest first, those older than `before`. */
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

function readPage(db: Database, where: SQL | undefined, limit: number) {
  return db
    .select(columns)
    .from(messages)
    .where(where)
    .orderBy(desc(messages.createdAt), desc(messages.id))
    .limit(limit)
}

/** The last of the rows that one page looks at; undefined when there are not so many. */
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

/** The conditions of one index: messages_number, messages_failed or messages_sender, whose order is that of the pages. */
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

/** The first comparison tells Postgres which partitions to leave out: it does not look into pairs. */
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

/** Of a message of the account, or of one that the retention has removed: its id carries its time. */
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
  const madeAtMs = timeOfMessageId(messageId)
  if (!(await wasDropped(db.$client, madeAtMs))) return undefined
  return { id: messageId, createdAt: new Date(madeAtMs).toISOString() }
}
