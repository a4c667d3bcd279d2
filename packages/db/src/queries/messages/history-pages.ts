import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../client.ts'
import { messages } from '../../schema/messages.ts'
import { receivedMedia } from '../../schema/received-media.ts'
import { conditionsOf, type HistoryFilter } from './history-filter.ts'
import {
  type HistoryMessage,
  type HistoryPosition,
  historyColumns,
  mediaOfMessage,
} from './message-history.ts'

export type HistoryQuery = HistoryFilter & {
  before?: HistoryPosition | undefined
  after?: HistoryPosition | undefined
  limit: number
}

/** `messages`: newest first. `nextBefore` and `nextAfter`: ids from which older and newer pages continue. */
export type HistoryPage = {
  messages: HistoryMessage[]
  hasMore: boolean
  nextBefore: string | undefined
  nextAfter: string | undefined
}

/**
 * How many rows one page reads for a filter without an index, such as a rare status. The page may then have fewer
 * messages than requested, or none, and still more may follow. The messages of one sender are spread over the table, so
 * each may need a read from the disk.
 */
const rowsMax = 500

/** The newest messages, or those that are older than `before`. With `after` alone, the oldest that are newer. */
export async function listMessages(
  db: Database,
  accountId: number,
  { before, after, limit, ...filter }: HistoryQuery,
): Promise<HistoryPage> {
  const { indexed, others } = conditionsOf(filter)
  const direction = after && !before ? up : down
  const range = and(
    eq(messages.accountId, accountId),
    before && isAt('<', before),
    after && isAt('>', after),
    ...indexed,
  )
  const end = others.length > 0 ? await findEnd(db, range, direction) : undefined
  const found = await readPage(
    db,
    and(range, end && isAt(direction.notBeyond, end), ...others),
    direction,
    limit + 1,
  )
  const shown = found.slice(0, limit)
  const continues = found.length > limit ? shown.at(-1) : end
  if (direction === up) return toPageUp(shown, continues, after)
  return {
    messages: shown,
    hasMore: continues !== undefined,
    nextBefore: continues?.id,
    nextAfter: before ? undefined : shown.find(({ isSettled }) => isSettled)?.id,
  }
}

type Direction = { order: SQL[]; notBeyond: '<=' | '>=' }

const down: Direction = { order: [desc(messages.createdAt), desc(messages.id)], notBeyond: '>=' }
const up: Direction = { order: [asc(messages.createdAt), asc(messages.id)], notBeyond: '<=' }

/**
 * A statement that stores messages takes 4 s at most, and its commit little longer. Until then a message may appear
 * between others that are there, because its time is that of the beginning.
 */
const isSettled = sql<boolean>`${messages.createdAt} < now() - interval '10 seconds'`

type Row = HistoryMessage & { isSettled: boolean }

function readPage(db: Database, where: SQL | undefined, { order }: Direction, limit: number): Promise<Row[]> {
  return db
    .select({ ...historyColumns, isSettled })
    .from(messages)
    .leftJoin(receivedMedia, mediaOfMessage)
    .where(where)
    .orderBy(...order)
    .limit(limit)
}

type End = HistoryPosition & { isSettled: boolean }

/** The last row that one page reads. Undefined when there are fewer rows. */
async function findEnd(db: Database, where: SQL | undefined, { order }: Direction): Promise<End | undefined> {
  const [end] = await db
    .select({ id: messages.id, createdAt: sql<string>`${messages.createdAt}::text`, isSettled })
    .from(messages)
    .where(where)
    .orderBy(...order)
    .limit(1)
    .offset(rowsMax - 1)
  return end
}

/** `nextAfter` passes no message that is not settled, so those are on the next page too. */
function toPageUp(
  shown: Row[],
  continues: { id: string; isSettled: boolean } | undefined,
  after: HistoryPosition | undefined,
): HistoryPage {
  const reached = continues?.isSettled ? continues : shown.findLast((message) => message.isSettled)
  const nextAfter = reached?.id ?? after?.id
  return {
    messages: shown.toReversed(),
    hasMore: continues !== undefined && nextAfter !== after?.id,
    nextBefore: undefined,
    nextAfter,
  }
}

/** Postgres excludes partitions by the first comparison: it does not use pairs for that. */
function isAt(operator: '<' | '<=' | '>' | '>=', { createdAt, id }: HistoryPosition): SQL {
  const at = sql`${createdAt}::timestamptz`
  const edge = sql.raw(operator.startsWith('<') ? '<=' : '>=')
  return sql`${messages.createdAt} ${edge} ${at} AND (${messages.createdAt}, ${messages.id}) ${sql.raw(operator)} (${at}, ${id}::uuid)`
}
