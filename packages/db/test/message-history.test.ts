import { makeMessageId } from '@wagate/shared/ids'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import type { HistoryFilter } from '../src/queries/messages/history-filter.ts'
import { listMessages } from '../src/queries/messages/history-pages.ts'
import { findHistoryPosition } from '../src/queries/messages/message-history.ts'

const sender = '4915100000000'
const accountId = 1
const rows = 12_000
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 })
  for (let first = 1; first <= rows; first += 3000) {
    await db.$client`
      INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, error_code, wa_id,
        link_generation, created_at)
      SELECT gen_random_uuid(), ${accountId}::int, 1, 'out', 'text', ${sender}, '49150' || n % 100,
        CASE n WHEN 5 THEN 'canceled' WHEN 6 THEN 'failed' ELSE 'read' END,
        CASE n WHEN 6 THEN 'message_expired' END, 'X', 1, now() - interval '1 hour' + n * interval '1 ms'
      FROM generate_series(${first}::int, ${first + 2999}::int) AS n`
  }
  await db.$client`ANALYZE messages`
}, 60_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const page = (filter: HistoryFilter, before?: { id: string; createdAt: string }) =>
  listMessages(db, accountId, { ...filter, before, limit: 200 })

async function countReads(work: () => Promise<unknown>): Promise<number> {
  // Postgres uses a generic plan after five executions.
  for (let n = 0; n < 7; n++) await work()
  const before = await countReadRows()
  await work()
  return (await countReadRows()) - before
}

async function countReadRows(): Promise<number> {
  await db.$client`SELECT pg_stat_force_next_flush()`
  await db.$client`SELECT pg_stat_clear_snapshot()`
  const [row] = await db.$client<{ read: number }[]>`
    SELECT sum(coalesce(idx_tup_read, 0) + seq_tup_read)::float8 AS read
    FROM pg_stat_user_tables AS tables LEFT JOIN pg_stat_user_indexes AS indexes USING (relid)
    WHERE tables.relname LIKE 'messages%'`
  return row?.read ?? 0
}

describe('the history of an account', () => {
  it.each<[HistoryFilter, number]>([
    [{}, 200],
    [{ number: '4915099' }, 120],
    [{ number: '4915000000' }, 0],
    [{ sender }, 200],
    [{ sender: '4915999999' }, 0],
    [{ status: 'failed' }, 1],
    [{ status: 'failed', sender }, 1],
    [{ number: '491506', status: 'failed' }, 1],
    [{ number: '4915099', sender: '4915999999', status: 'read' }, 0],
    [{ direction: 'in' }, 0],
    [{ status: 'received', sender }, 0],
    [{ number: '4915099', direction: 'out' }, 120],
    [{ from: new Date(0), to: new Date('2020-01-01') }, 0],
  ])('is found by an index with the filter %j', async (filter, found) => {
    const { messages, hasMore } = await page(filter)
    expect(messages).toHaveLength(found)
    expect(hasMore).toBe(found === 200)
    expect(await countReads(() => page(filter))).toBeLessThan(1000)
  })

  it('is found completely, in limited pages, with a filter without an index', async () => {
    const found: string[] = []
    let pages = 0
    let before: { id: string; createdAt: string } | undefined
    for (;;) {
      const { messages, nextBefore: next } = await page({ status: 'canceled' }, before)
      pages += 1
      found.push(...messages.map(({ status }) => status))
      if (next === undefined) break
      before = await findByRow(next)
    }
    expect(found).toEqual(['canceled'])
    expect(pages).toBe(25)
    expect(await countReads(() => page({ status: 'canceled' }))).toBeLessThan(2500)
  })

  it.each<[HistoryFilter]>([
    [{ type: 'video' }],
    [{ lid: '1000000000000001' }],
    [{ sender, type: 'video' }],
    [{ status: 'queued', from: new Date(0) }],
  ])('is read in limited steps, also upwards, with the rare filter %j', async (filter) => {
    const oldest = await findByPlace(1)
    const up = () => listMessages(db, accountId, { ...filter, after: oldest, limit: 200 })
    for (const read of [() => page(filter), up]) {
      expect(await read()).toMatchObject({ messages: [], hasMore: true })
      expect(await countReads(read)).toBeLessThan(2500)
    }
    expect((await page(filter)).nextBefore).toBe((await findByPlace(rows - 499)).id)
    expect((await up()).nextAfter).toBe((await findByPlace(501)).id)
  })

  it('continues after a message that retention has dropped, and after no other unknown one', async () => {
    const dropped = makeMessageId(sender, Date.parse('2024-01-01'))
    const position = await findHistoryPosition(db, accountId, dropped)
    expect(position).toMatchObject({ id: dropped })
    expect(await page({}, position)).toMatchObject({ messages: [], hasMore: false })
    expect(await findHistoryPosition(db, accountId, makeMessageId(sender))).toBeUndefined()
    expect(await findHistoryPosition(db, accountId, 'ffffffff-ffff-7fff-bfff-ffffffffffff')).toBeUndefined()
  })
})

/** From 1 on, the oldest first. */
async function findByPlace(place: number): Promise<{ id: string; createdAt: string }> {
  const [row] = await db.$client<{ id: string; createdAt: string }[]>`
    SELECT id, created_at::text AS "createdAt" FROM messages ORDER BY created_at LIMIT 1 OFFSET ${place - 1}`
  if (!row) throw new Error('There are fewer messages')
  return row
}

/** These ids contain no time. */
async function findByRow(id: string): Promise<{ id: string; createdAt: string }> {
  const [row] = await db.$client<{ id: string; createdAt: string }[]>`
    SELECT id, created_at::text AS "createdAt" FROM messages WHERE id = ${id}`
  if (!row) throw new Error('The message is gone')
  return row
}
