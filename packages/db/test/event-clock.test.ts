import { type EventPosition, firstPosition } from '@wagate/shared/event-ids'
import { until } from '@wagate/test-kit/until'
import type postgres from 'postgres'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { migrate } from '../src/migrate.ts'
import { endUnsteadyEpoch, keepEventEpoch } from '../src/queries/events/event-epoch.ts'
import { findLatestPosition, isPositionExpired, listEvents } from '../src/queries/events/event-feed.ts'
import { findPositionAt } from '../src/queries/events/event-time.ts'
import { listDueWebhooks } from '../src/queries/webhooks/webhook-rounds.ts'
import { openAccountDatabase } from './account-database.ts'

let database: Awaited<ReturnType<typeof openAccountDatabase>> | undefined
let sql: postgres.Sql
const daySeconds = 86_400

beforeEach(async () => {
  await database?.drop()
  database = await openAccountDatabase({ poolSize: 1 })
  sql = database.db.$client
})
afterAll(() => database?.drop())

function open() {
  if (!database) throw new Error('There is no database')
  return database
}

async function insert(deviceId: number): Promise<void> {
  await sql`INSERT INTO events (account_id, device_id, type) VALUES (${open().accountId}, ${deviceId}, 1)`
}

const list = (after: EventPosition, limit = 100) => listEvents(open().db, open().accountId, { after, limit })

/** The devices of the events, read in pages. */
async function readDevices(after: EventPosition): Promise<(number | null)[]> {
  const devices: (number | null)[] = []
  for (let page = await list(after, 1); ; page = await list(page.next, 1)) {
    devices.push(...page.events.map(({ deviceId }) => deviceId))
    if (!page.hasMore) return devices
  }
}

const readAll = (after: EventPosition, wanted: number[]) =>
  expect.poll(() => readDevices(after), { timeout: 10_000 }).toEqual(wanted)

async function read(after: EventPosition, count: number) {
  await expect.poll(async () => (await list(after)).events.length, { timeout: 10_000 }).toBe(count)
  return list(after)
}

/** The epoch and what was recorded in it look as if the clock of Postgres had been ahead by that. */
async function wasAhead(days: number): Promise<void> {
  await sql`UPDATE events SET created_at = created_at + ${days} * interval '1 day'`
  await shiftEpoch(days)
}

async function shiftEpoch(days: number): Promise<void> {
  await sql`
    UPDATE event_epochs SET since = least(since, since + ${days} * interval '1 day'), until = until + ${days} * interval '1 day'`
  await sql`
    UPDATE event_clock SET since = since + ${days} * interval '1 day', until = until + ${days} * interval '1 day'`
}

/** How many times the work reads a partition of events. */
async function countScans(work: () => Promise<unknown>): Promise<number> {
  const sum = async () => {
    await sql`SELECT pg_stat_force_next_flush()`
    await sql`SELECT pg_stat_clear_snapshot()`
    const [row] = await sql<{ scans: number }[]>`
      SELECT sum(seq_scan + idx_scan)::float8 AS scans FROM pg_stat_user_tables WHERE relname ~ '^events_[0-9]'`
    return row?.scans ?? 0
  }
  const before = await sum()
  await work()
  return (await sum()) - before
}

const later = (position: EventPosition, days: number) => ({
  ...position,
  seconds: position.seconds + days * daySeconds,
})

test.each([2, 20, -5])('no reader skips an event if the clock was ahead by %i days', async (days) => {
  await insert(1)
  // A transaction of another test may hold back what is the latest.
  await read(firstPosition, 1)
  const before = await findLatestPosition(open().db)
  await insert(2)
  const { events, next } = await read(firstPosition, 2)
  const last = events.at(-1)?.position ?? firstPosition
  await wasAhead(days)
  await insert(3)
  await insert(4)
  await readAll(firstPosition, [1, 2, 3, 4])
  await readAll(later(before, Math.min(days, 0)), [2, 3, 4])
  for (const position of [next, last]) {
    const ahead = later(position, days)
    await readAll(ahead, [3, 4])
    expect(
      await listDueWebhooks(open().db, [{ webhookId: 1, accountId: open().accountId, position: ahead }]),
    ).toMatchObject([{ hasEvents: true }])
  }
  const since = await findPositionAt(
    open().db,
    open().accountId,
    new Date(Date.now() - 1000 * daySeconds * 30),
  )
  await readAll(since, [1, 2, 3, 4])
})

test('a position that was read while the clock was ahead, and nothing recorded, skips nothing', async () => {
  await insert(1)
  await read(firstPosition, 1)
  await shiftEpoch(-3)
  const { next } = await list(firstPosition)
  const latest = await findLatestPosition(open().db)
  const [epoch] = await sql<
    { until: number }[]
  >`SELECT extract(epoch FROM until)::float8 AS until FROM event_epochs`
  for (const { seconds } of [next, latest]) expect(seconds).toBeLessThanOrEqual(epoch?.until ?? 0)
})

test('events of several starts of Postgres are read in their order, each page from few partitions', async () => {
  for (let start = 1; start <= 3; start++) {
    await sql`UPDATE event_clock SET started_at = started_at - interval '1 hour'`
    await insert(start)
  }
  await readAll(firstPosition, [1, 2, 3])
  const { events } = await list(firstPosition)
  expect(new Set(events.map(({ position }) => position.epoch)).size).toBe(3)
  for (const { position } of events) expect(await countScans(() => list(position))).toBeLessThanOrEqual(2)
})

test('an epoch in which the clock went back ends with the next migration, and nothing is skipped', async () => {
  await insert(1)
  const { next } = await read(firstPosition, 1)
  await endUnsteadyEpoch(sql)
  await insert(2)
  await wasAhead(2)
  await insert(3)
  const count = async () => (await sql`SELECT FROM event_epochs`).count
  expect(await count()).toBe(1)
  await endUnsteadyEpoch(sql)
  await insert(4)
  expect(await count()).toBe(2)
  await readAll(next, [2, 3, 4])
})

test('a reader that has waited for weeks for the first event since keeps its place', async () => {
  await insert(1)
  const { next } = await read(firstPosition, 1)
  await shiftEpoch(-40)
  expect(await isPositionExpired(open().db, later(next, -40))).toBe(true)
  // Transactions of others on this server hold back what can be read.
  const untilPresent = (from: EventPosition) =>
    until('the reader is at the present', async () => {
      const read = await list(from)
      return !(await isPositionExpired(open().db, read.next)) && read
    })
  const waiting = await untilPresent(later(next, -40))
  // As housekeeping does: what was read before is as old as the epoch was then.
  await keepEventEpoch(sql)
  const kept = await untilPresent(waiting.next)
  await insert(2)
  expect(await isPositionExpired(open().db, kept.next)).toBe(false)
  await readAll(kept.next, [2])
})

test('a version from before epochs that was started meanwhile is undone by the next migration', async () => {
  await insert(1)
  await sql`UPDATE installation SET event_epoch = event_epoch + 1`
  const [installation] = await sql<{ epoch: number }[]>`SELECT event_epoch AS epoch FROM installation`
  await sql.unsafe(`ALTER TABLE events ALTER COLUMN epoch SET DEFAULT ${installation?.epoch}`)
  await insert(2)
  const { next } = await read(firstPosition, 2)
  await migrate(open().url, { shards: 256 })
  await insert(3)
  await readAll(next, [3])
  const [last] = await sql<{ epoch: number }[]>`SELECT max(epoch) AS epoch FROM events`
  expect(last?.epoch).toBeGreaterThan(installation?.epoch ?? Number.POSITIVE_INFINITY)
})

test('a claim whose commit is lazy begins no epoch that a crash takes back', async () => {
  const settings = await sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = off`
    await tx`INSERT INTO events (account_id, type) VALUES (1, 1)`
    return tx<{ commit: string }[]>`SELECT current_setting('synchronous_commit') AS commit`
  })
  expect(settings).toEqual([{ commit: 'on' }])
})
