import { timeOfMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import { and, eq, isNull, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../client.ts'
import { messages } from '../../schema/messages.ts'
import { receivedMedia } from '../../schema/received-media.ts'
import { knownOf } from '../contacts/known-contacts.ts'
import { reportedStatus } from '../devices/reported-status.ts'
import { wasDropped } from '../statements/partitions.ts'
import { createdAround, limitsAround } from './message-time.ts'

export const historyColumns = {
  id: messages.id,
  deviceId: messages.deviceId,
  sender: messages.sender,
  number: messages.number,
  contactJid: messages.recipientJid,
  contact: knownOf('messages', 'recipient_jid'),
  direction: messages.direction,
  type: messages.type,
  body: messages.body,
  url: messages.url,
  filename: messages.filename,
  content: messages.content,
  replyTo: messages.replyTo,
  media: {
    accountId: receivedMedia.accountId,
    state: receivedMedia.state,
    reason: receivedMedia.reason,
    mime: receivedMedia.mime,
    declaredMime: receivedMedia.declaredMime,
    filename: receivedMedia.filename,
    size: receivedMedia.size,
    sha256: sql<string | null>`encode(${receivedMedia.sha256}, 'hex')`,
  },
  status: sql<MessageStatus>`${sql.raw(reportedStatus('messages'))}`,
  error: messages.error,
  errorCode: messages.errorCode,
  waId: messages.waId,
  reference: messages.reference,
  priority: messages.priority,
  createdAt: messages.createdAt,
  sendAt: messages.sendAt,
  expiresAt: messages.expiresAt,
  sentAt: messages.sentAt,
  deliveredAt: messages.deliveredAt,
  readAt: messages.readAt,
  editedAt: messages.editedAt,
  deletedAt: messages.deletedAt,
  playedAt: messages.playedAt,
  unavailable: messages.unavailable,
  writtenAt: messages.writtenAt,
  pushName: messages.pushName,
  source: messages.source,
}

/** A position in the history. `createdAt` is text because a Date would lose the microseconds. */
export type HistoryPosition = { id: string; createdAt: string }

export type HistoryMessage = NonNullable<Awaited<ReturnType<typeof findMessage>>>

export const mediaOfMessage = and(eq(receivedMedia.messageId, messages.id), isNull(messages.deletedAt))

function selectMessages(db: Database) {
  return db.select(historyColumns).from(messages).leftJoin(receivedMedia, mediaOfMessage)
}

export async function findMessage(db: Database, accountId: number, messageId: string) {
  const [message] = await selectMessages(db).where(isMessage(accountId, messageId))
  return message
}

/** By their ids. Messages that retention has removed are missing. */
export async function findMessages(
  db: Database,
  accountId: number,
  messageIds: string[],
): Promise<Map<string, HistoryMessage>> {
  if (messageIds.length === 0) return new Map()
  const query = queriesByIds.get(db) ?? prepareQueryByIds(db)
  queriesByIds.set(db, query)
  const found = await query.execute({
    accountId,
    messageIds,
    ...limitsAround(messageIds.map(timeOfMessageId)),
  })
  return new Map(found.map((message) => [message.id, message]))
}

/** Readers of events run it all the time, and building and parsing the statement takes longer than finding a message. */
const queriesByIds = new WeakMap<Database, ReturnType<typeof prepareQueryByIds>>()

function prepareQueryByIds(db: Database) {
  const given = sql.placeholder
  return selectMessages(db)
    .where(
      and(
        belongsTo(given('accountId')),
        sql`${messages.id} = ANY (${given('messageIds')}::uuid[])`,
        sql`${messages.createdAt} BETWEEN ${given('first')}::timestamptz AND ${given('last')}::timestamptz`,
      ),
    )
    .prepare('messages by ids')
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
    .where(isMessage(accountId, messageId))
  if (position) return position
  const createdAtMs = timeOfMessageId(messageId)
  if (!(await wasDropped(db.$client, 'messages', createdAtMs))) return undefined
  return { id: messageId, createdAt: new Date(createdAtMs).toISOString() }
}

/** One message of the account. */
export function isMessage(accountId: number, messageId: string): SQL | undefined {
  return and(belongsTo(accountId), eq(messages.id, messageId), createdAround(messageId))
}

/**
 * For messages that are found by their ids. A comparison that an index can find would let Postgres look through all
 * messages of the account in these days, as long as it has not counted them.
 */
function belongsTo(accountId: number | Placeholder): SQL {
  return sql`${messages.accountId} + 0 = ${accountId}`
}
