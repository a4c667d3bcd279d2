import { type EventPosition, firstPosition, formatEventId } from '@wagate/shared/event-ids'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Replayed,
  replayEvents,
  replayFailedDeliveries,
} from '../src/queries/webhooks/webhook-deliveries.ts'
import { findWebhook, insertWebhook } from '../src/queries/webhooks/webhooks.ts'
import { openAccountDatabase } from './account-database.ts'

let database: Awaited<ReturnType<typeof openAccountDatabase>>
beforeAll(async () => {
  database = await openAccountDatabase()
})
afterAll(() => database.drop())

const settings = { url: 'https://example.com/hook', name: 'CRM' }
const addWebhook = () =>
  database.db.transaction((tx) => insertWebhook(tx, database.accountId, settings, firstPosition))

const replay = (id: number, positions: EventPosition[]): Promise<Replayed> =>
  database.db.transaction((tx) => replayEvents(tx, database.accountId, id, positions))

const positions = Array.from({ length: 20 }, (_, n) => ({ epoch: 0, tx: '5', id: String(n), seconds: 7 }))
const [first = firstPosition, ...others] = positions

/** In a request of several events, and with the failures of one that is repeated or was given up. */
const park = (id: number, events: EventPosition[], nextAttempt: string | null) => database.db.$client`
  INSERT INTO webhook_deliveries (webhook_id, event_ids, attempts, next_attempt_at)
  VALUES (${id}, ${events.map(formatEventId)}, 3, now() + ${nextAttempt}::interval)`

test('an event that waits already is not added again, also in a request of several', async () => {
  const id = await addWebhook()
  await park(id, others.slice(0, 5), '1 hour')
  expect(await replay(id, positions)).toBe(15)
  expect(await replay(id, positions)).toBe(0)
  expect(await replay(await addWebhook(), positions)).toBe(20)
})

test('an event whose delivery was given up is added', async () => {
  const id = await addWebhook()
  await park(id, [first], null)
  expect(await replay(id, [first])).toBe(1)
})

test('replays at the same time add an event once', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  let second: Promise<Replayed> = Promise.resolve('unknown')
  await db.transaction(async (tx) => {
    expect(await replayEvents(tx, accountId, id, positions)).toBe(20)
    let isOver = false
    second = replay(id, positions).finally(() => {
      isOver = true
    })
    await until('the second replay to wait or to end', async () => {
      const waiting = await db.$client`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return isOver || waiting.length > 0
    })
  })
  expect(await second).toBe(0)
  expect(await findWebhook(db, accountId, id)).toMatchObject({ waiting: 20 })
})

test('nothing is replayed while too many deliveries wait', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  await park(id, [first], null)
  const replayAtMost = (events: EventPosition[], waitingMax: number) =>
    db.transaction((tx) => replayEvents(tx, accountId, id, events, waitingMax))
  const failedAtMost = (waitingMax: number) =>
    db.transaction((tx) => replayFailedDeliveries(tx, accountId, id, waitingMax))
  expect(await replayAtMost(others.slice(0, 3), 2)).toBe(3)
  expect(await replayAtMost(others, 2)).toBe('full')
  expect(await failedAtMost(2)).toBe('full')
  expect(await findWebhook(db, accountId, id)).toMatchObject({ waiting: 3, failed: 1 })
  expect(await failedAtMost(3)).toBe(1)
})
