import { type EventPosition, firstPosition } from '@wagate/shared/event-ids'
import { eventTypes } from '@wagate/shared/event-types'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { isPositionExpired, listEvents } from '../src/queries/events/event-feed.ts'
import { openAccountDatabase } from './account-database.ts'

let database: Awaited<ReturnType<typeof openAccountDatabase>>
let accountId = 0

beforeAll(async () => {
  database = await openAccountDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  accountId++
})

type Values = { type?: number; deviceId?: number }

const insert = (sql = database.db.$client, { type = 1, deviceId = 1 }: Values = {}) =>
  sql`INSERT INTO events (account_id, device_id, type) VALUES (${accountId}, ${deviceId}, ${type})`

const list = (after: EventPosition, limit = 100, filter = {}) =>
  listEvents(database.db, accountId, { after, limit, ...filter })

/** Reads until nothing more is there, in pages of `limit`. */
async function readAll(limit: number, filter = {}) {
  const ids: string[] = []
  let page = await list(firstPosition, limit, filter)
  for (;;) {
    ids.push(...page.events.map(({ position }) => position.id))
    if (!page.hasMore) return { ids, next: page.next }
    page = await list(page.next, limit, filter)
  }
}

/** No test may commit before all earlier transactions of this server: tests of other files hold some for a second. */
async function untilReadable(count: number): Promise<void> {
  await expect.poll(async () => (await readAll(100)).ids.length, { timeout: 10_000 }).toBe(count)
}

test('an event that is inserted first and committed last is not skipped', async () => {
  // The first one of all begins an epoch, for which others wait.
  await insert()
  accountId++
  const late = await database.db.$client.reserve()
  await late`BEGIN`
  await insert(late as never)
  await insert()
  const before = await list(firstPosition)
  expect(before.events).toEqual([])
  await insert()
  await late`COMMIT`
  late.release()
  await untilReadable(3)
  const after = await list(before.next)
  expect(after.events).toHaveLength(3)
  const ids = after.events.map(({ position }) => Number(position.id))
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
})

test('every event is in one page, in order, and only those of the account', async () => {
  for (let count = 0; count < 7; count++) await insert()
  await database.db.$client`INSERT INTO events (account_id, type) VALUES (${accountId + 1}, 1)`
  await untilReadable(7)
  const whole = await list(firstPosition)
  for (const limit of [1, 2, 7, 8])
    expect((await readAll(limit)).ids).toEqual(whole.events.map(({ position }) => position.id))
  accountId++
})

test('filters leave out what is not wanted, and their pages move on', async () => {
  for (let count = 0; count < 5; count++)
    await insert(undefined, { type: eventTypes['message.sent'], deviceId: count })
  await insert(undefined, { type: eventTypes['message.read'], deviceId: 9 })
  await untilReadable(6)
  const { ids, next } = await readAll(1, { types: [eventTypes['message.read']] })
  expect(ids).toHaveLength(1)
  expect((await readAll(2, { deviceId: 3 })).ids).toHaveLength(1)
  expect((await list(next)).events).toEqual([])
})

test('a page reads a limited number of events that are not wanted, and the next ones find what follows', async () => {
  await database.db.$client`
    INSERT INTO events (account_id, device_id, type)
    SELECT ${accountId}, 1, ${eventTypes['message.sent']} FROM generate_series(1, 4500)`
  await insert(undefined, { type: eventTypes['message.read'] })
  const filter = { types: [eventTypes['message.read']] }
  await expect.poll(async () => (await readAll(100, filter)).ids.length, { timeout: 10_000 }).toBe(1)
  expect(await list(firstPosition, 100, filter)).toMatchObject({ events: [], hasMore: true })
})

test('an event of a former epoch comes first and is visible whatever its transaction', async () => {
  await insert()
  await database.db.$client`
    INSERT INTO events (account_id, type, epoch, tx) VALUES (${accountId}, 2, 5, '900000000000')`
  await untilReadable(2)
  const { events } = await list(firstPosition)
  expect(events.map(({ type }) => type)).toEqual([2, 1])
})

test('an empty page moves on, and a later event follows it', async () => {
  const { next } = await list(firstPosition)
  expect(next).not.toEqual(firstPosition)
  await insert()
  await untilReadable(1)
  expect((await list(next)).events).toHaveLength(1)
})

test('a position before the oldest partition is expired, the beginning is not', async () => {
  const daysAgo = (days: number) => ({
    ...firstPosition,
    seconds: Math.floor(Date.now() / 1000) - days * 86_400,
  })
  expect(await isPositionExpired(database.db, firstPosition)).toBe(false)
  expect(await isPositionExpired(database.db, daysAgo(2))).toBe(false)
  expect(await isPositionExpired(database.db, daysAgo(30))).toBe(true)
})

test('the statement that reads a page is not planned each time', async () => {
  // Each connection has its own plans.
  const { db, accountId: account, drop } = await openAccountDatabase({ poolSize: 1 })
  onTestFinished(drop)
  await db.$client`
    INSERT INTO events (account_id, device_id, type) SELECT ${account}, 1, 1 FROM generate_series(1, 40_000)`
  await db.$client`ANALYZE events`
  const { next } = await listEvents(db, account, { after: firstPosition, limit: 1 })
  for (let count = 0; count < 10; count++) await listEvents(db, account, { after: next, limit: 50 })
  // Postgres makes five plans for given values before it may keep one for all values.
  const [row] = await db.$client<{ plans: number }[]>`
    SELECT max(custom_plans)::int AS plans FROM pg_prepared_statements WHERE statement LIKE '%horizon%'`
  expect(row?.plans).toBe(5)
})
