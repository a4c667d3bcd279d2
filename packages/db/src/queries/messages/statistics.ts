import { phoneForms } from '@wagate/shared/phone'
import type { Database } from '../../client.ts'

export type MessageCounts = {
  sent: number
  delivered: number
  read: number
  failed: number
  received: number
}

export const statisticsGroups = ['day', 'sender', 'code'] as const
export type StatisticsGroup = (typeof statisticsGroups)[number]

/** What it is not grouped by is an empty text. So is the code of messages that have not failed. */
export type StatisticsKey = Record<StatisticsGroup, string>
export type StatisticsRow = StatisticsKey & MessageCounts

export type StatisticsQuery = {
  sender?: string | undefined
  /** UTC days, YYYY-MM-DD, both included. */
  from: string
  to: string
  by: StatisticsGroup[]
  /** The last row of the page before. */
  after?: StatisticsKey | undefined
  limit: number
}

/** `totals` are those of all rows, on every page. Rows are in the order of day, sender and code. */
export async function findStatistics(
  { $client: sql }: Database,
  accountId: number,
  { sender, from, to, by, after, limit }: StatisticsQuery,
): Promise<{ totals: MessageCounts; rows: StatisticsRow[] }> {
  const ofSender = sender === undefined ? sql`` : sql`AND sender = ANY (${phoneForms(sender)}::text[])`
  const afterwards = after
    ? sql`WHERE (day, sender, code) > (${after.day}, ${after.sender}, ${after.code})`
    : sql``
  const group = (name: StatisticsGroup, column: string) =>
    by.includes(name) ? sql.unsafe(column) : sql`''::text`
  const sums = sql.unsafe(countNames.map((name) => `coalesce(sum(${name}), 0)::float8 AS ${name}`).join(', '))
  const [found] = await sql<{ totals: MessageCounts; rows: StatisticsRow[] }[]>`
    WITH days AS (
      SELECT ${group('day', 'day::text')} AS day, ${group('sender', 'sender')} AS sender,
        ${group('code', 'error_code')} AS code, ${sums}
      FROM message_counts
      -- Each day is looked up in the index, which begins with it.
      WHERE day = ANY (ARRAY(SELECT generate_series(${from}::date, ${to}::date, '1 day')::date))
        AND account_id = ${accountId} ${ofSender}
      GROUP BY 1, 2, 3
    ),
    page AS (SELECT * FROM days ${afterwards} ORDER BY day, sender, code LIMIT ${limit})
    SELECT (SELECT to_jsonb(total) FROM (SELECT ${sums} FROM days) AS total) AS totals,
      (SELECT coalesce(jsonb_agg(page ORDER BY day, sender, code), '[]') FROM page) AS rows`
  if (!found) throw new Error('A query without FROM returned no row')
  return found
}

const countNames = ['sent', 'delivered', 'read', 'failed', 'received'] as const
