import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { listEvents } from '../src/queries/events/event-feed.ts'
import { findPositionAt } from '../src/queries/events/event-time.ts'
import { listUpdatedMessages } from '../src/queries/events/updated-messages.ts'
import { type HistoryPage, listMessages } from '../src/queries/messages/history-pages.ts'
import { findHistoryPosition } from '../src/queries/messages/message-history.ts'
import { openAccountDatabase } from './account-database.ts'
import { countReads } from './table-reads.ts'

let db: Database
let drop: () => Promise<void>
let accountId = 1000

beforeAll(async () => {
  ;({ db, drop } = await openAccountDatabase({ isWeekly: true }))
})
afterAll(() => drop())
beforeEach(() => {
  accountId++
})

/** `ageSeconds`: undefined is the time of the transaction. */
async function insert(ageSeconds?: number, sql = db.$client): Promise<string> {
  const id = makeMessageId('4915100000000', Date.now() - (ageSeconds ?? 0) * 1000)
  await sql`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation,
      created_at)
    VALUES (${id}, ${accountId}, 1, 'out', 'text', '1', '2', 'read', 'X', 1,
      now() - ${ageSeconds ?? 0}::int * interval '1 s')`
  return id
}

async function readAfter(id: string, limit = 100): Promise<HistoryPage> {
  return listMessages(db, accountId, { after: await findHistoryPosition(db, accountId, id), limit })
}

const idsOf = ({ messages }: { messages: { id: string }[] }) => messages.map(({ id }) => id)

/** As if that time had passed since. */
async function age(id: string, seconds: number): Promise<void> {
  await db.$client`
    UPDATE messages SET created_at = created_at - ${seconds}::int * interval '1 s' WHERE id = ${id}`
}

test('a message that is stored first and committed last is not missed by a program that follows nextAfter', async () => {
  const first = await insert(60)
  const late = await db.$client.reserve()
  await late`BEGIN`
  const lateId = await insert(undefined, late as never)
  const early = await insert()
  const page = await readAfter(first)
  expect(idsOf(page)).toEqual([early])
  expect(page).toMatchObject({ nextAfter: first, hasMore: false })
  await late`COMMIT`
  late.release()
  expect(idsOf(await readAfter(page.nextAfter ?? ''))).toEqual([early, lateId])
})

test('nextAfter passes what is older than ten seconds, also on a page of the newest', async () => {
  const [first, second, third] = [await insert(60), await insert(20), await insert()]
  const newest = await listMessages(db, accountId, { limit: 100 })
  expect(idsOf(newest)).toEqual([third, second, first])
  expect(newest.nextAfter).toBe(second)
  expect(await readAfter(first)).toMatchObject({ nextAfter: second, hasMore: false })
  await age(third, 11)
  expect(await readAfter(second)).toMatchObject({ nextAfter: third, hasMore: false })
})

test('a page that is full of new messages asks for no immediate repetition', async () => {
  const first = await insert(60)
  for (let count = 0; count < 3; count++) await insert()
  const page = await readAfter(first, 2)
  expect(page.messages).toHaveLength(2)
  expect(page).toMatchObject({ nextAfter: first, hasMore: false })
})

test('the newest page of no messages has no nextAfter', async () => {
  expect(await listMessages(db, accountId, { limit: 1 })).toEqual({
    messages: [],
    hasMore: false,
    nextBefore: undefined,
    nextAfter: undefined,
  })
})

/** Of a run of Postgres that began at that time. */
const epochAt = (secondsAgo: number) => Math.floor(Date.now() / 1000) - secondsAgo

test('changes are found from any time on, with those of the ten seconds before at most', async () => {
  const ids: string[] = []
  for (const seconds of [300, 200, 100]) {
    const id = await insert(seconds)
    ids.push(id)
    // Each in a run of Postgres, as their order is that of the stream.
    await db.$client`
      INSERT INTO events (account_id, device_id, type, message_id, created_at, epoch)
      VALUES (${accountId}, 1, 1, ${id}, now() - ${seconds}::int * interval '1 s', ${epochAt(seconds + 50)})`
  }
  const readSince = async (seconds: number) => {
    const after = await findPositionAt(db, accountId, new Date(Date.now() - seconds * 1000))
    return idsOf(await listUpdatedMessages(db, accountId, { after, limit: 100 })).toReversed()
  }
  await expect.poll(async () => (await readSince(1000)).length, { timeout: 10_000 }).toBe(3)
  expect(await readSince(301)).toEqual(ids)
  expect(await readSince(295)).toEqual(ids)
  expect(await readSince(250)).toEqual(ids.slice(1))
  expect(await readSince(150)).toEqual(ids.slice(2))
  expect(await readSince(50)).toEqual([])
  expect(await readSince(-1000)).toEqual([])
})

test('the place of a time in the stream, and a page behind it, are found by the index', async () => {
  const rows = 20_000
  await db.$client`
    INSERT INTO events (account_id, device_id, type, epoch, tx, created_at)
    SELECT ${accountId}, 1, 1, ${epochAt(20_000)}, (1 + n / 100)::text::xid8, now() - (${rows}::int - n) * interval '1 s'
    FROM generate_series(1, ${rows}::int) AS n`
  await db.$client`ANALYZE events`
  const events = { table: 'events', isScanCounted: true } as const
  const find = () => findPositionAt(db, accountId, new Date(Date.now() - 10_000_000))
  expect(await countReads(db, find, events)).toBeLessThan(2000)
  const after = await find()
  expect(await countReads(db, () => listEvents(db, accountId, { after, limit: 100 }), events)).toBeLessThan(
    300,
  )
})
