import { firstPosition } from '@wagate/shared/event-ids'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { listUpdatedMessages } from '../src/queries/events/updated-messages.ts'
import type { HistoryFilter } from '../src/queries/messages/history-filter.ts'
import { listMessages } from '../src/queries/messages/history-pages.ts'
import { findHistoryPosition } from '../src/queries/messages/message-history.ts'
import { openAccountDatabase } from './account-database.ts'
import {
  filterArbitrary,
  insertModel,
  type ModelMessage,
  messagesArbitrary,
  selectFromModel,
} from './history-model.ts'

let db: Database
let drop: () => Promise<void>
/** Each run has an account of its own. */
let accountId = 1000

beforeAll(async () => {
  ;({ db, drop } = await openAccountDatabase())
})
afterAll(() => drop())

const positionOf = async (id: string | undefined) =>
  id === undefined ? undefined : findHistoryPosition(db, accountId, id)

type Bounds = { before?: string | undefined; after?: string | undefined }

/** The ids of each page, in the order in which a program reads them. */
async function readDown(filter: HistoryFilter, limit: number, { before, after }: Bounds = {}) {
  const pages: string[][] = []
  let next = before
  for (;;) {
    const page = await listMessages(db, accountId, {
      ...filter,
      limit,
      before: await positionOf(next),
      after: await positionOf(after),
    })
    pages.push(page.messages.map(({ id }) => id))
    if (!page.hasMore) return pages
    next = page.nextBefore
  }
}

async function readUp(filter: HistoryFilter, limit: number, after: string) {
  const pages: string[][] = []
  let next: string | undefined = after
  for (;;) {
    const page = await listMessages(db, accountId, { ...filter, limit, after: await positionOf(next) })
    pages.push(page.messages.map(({ id }) => id))
    next = page.nextAfter
    if (!page.hasMore) return pages
  }
}

async function readUpdated(filter: HistoryFilter, limit: number) {
  const ids: string[] = []
  let after = firstPosition
  for (;;) {
    const page = await listUpdatedMessages(db, accountId, { ...filter, after, limit })
    ids.push(...page.messages.map(({ id }) => id))
    after = page.next
    if (!page.hasMore) return ids
  }
}

/** One event for each message, in any order. Resolves when all of them are readable. */
async function insertEvents(messages: ModelMessage[]): Promise<void> {
  await db.$client`
    INSERT INTO events (account_id, device_id, type, message_id)
    SELECT ${accountId}::int, 1, 1, id FROM unnest(${messages.map(({ id }) => id)}::uuid[]) AS id ORDER BY md5(id::text)`
  await expect
    .poll(async () => (await readUpdated({}, 100)).length, { timeout: 10_000 })
    .toBe(messages.length)
}

const limits = fc.integer({ min: 1, max: 9 })

test('every filter, alone and combined, finds each matching message on exactly one page, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      messagesArbitrary,
      fc.array(filterArbitrary, { minLength: 1, maxLength: 8 }),
      limits,
      async (given, filters, limit) => {
        accountId++
        const nowMs = Math.floor(Date.now() / 1000) * 1000
        const messages = await insertModel(db, accountId, given, nowMs)
        const oldest = selectFromModel(messages, {}).at(-1) ?? ''
        await Promise.all(
          filters.map(async (filterAt) => {
            const filter = filterAt(nowMs)
            const expected = selectFromModel(messages, filter)
            expect((await readDown(filter, limit)).flat()).toEqual(expected)
            const pagesUp = await readUp(filter, limit, oldest)
            expect(pagesUp.reverse().flat()).toEqual(expected.filter((id) => id !== oldest))
          }),
        )
      },
    ),
    { numRuns: 25 },
  )
}, 60_000)

test('pages between two messages hold what is newer than one and older than the other', async () => {
  await fc.assert(
    fc.asyncProperty(messagesArbitrary, limits, fc.nat(), fc.nat(), async (given, limit, one, other) => {
      accountId++
      const messages = await insertModel(db, accountId, given, Date.now())
      const ids = selectFromModel(messages, {})
      const [first, last] = [one % ids.length, other % ids.length]
      const pages = await readDown({}, limit, { before: ids[first], after: ids[last] })
      expect(pages.flat()).toEqual(ids.slice(first + 1, Math.max(last, first + 1)))
    }),
    { numRuns: 25 },
  )
}, 60_000)

test('every filter applies to messages that have changed', async () => {
  await fc.assert(
    fc.asyncProperty(
      messagesArbitrary,
      fc.array(filterArbitrary, { minLength: 1, maxLength: 8 }),
      limits,
      async (given, filters, limit) => {
        accountId++
        const nowMs = Math.floor(Date.now() / 1000) * 1000
        const messages = await insertModel(db, accountId, given, nowMs)
        await insertEvents(messages)
        await Promise.all(
          filters.map(async (filterAt) => {
            const filter = filterAt(nowMs)
            const found = await readUpdated(filter, limit)
            expect(found.toSorted()).toEqual(selectFromModel(messages, filter).toSorted())
          }),
        )
      },
    ),
    { numRuns: 10 },
  )
}, 60_000)
