import { closeDatabase, openDatabase } from '@wagate/db/client'
import { insertTestEvent } from '@wagate/db/queries/webhooks/webhook-deliveries'
import { formatEventId, parseEventId } from '@wagate/shared/event-ids'
import { makeMessageId } from '@wagate/shared/ids'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { listStoredRequests } from '../src/webhooks/due-requests.ts'
import { openWebhookDatabase, type WebhookDatabase } from './webhook-database.ts'

let database: WebhookDatabase
beforeAll(async () => {
  database = await openWebhookDatabase()
})
afterAll(() => database.drop())

test('a delivery whose event is not readable yet waits for it', async () => {
  const { db, sql } = database
  const accountId = await database.addAccount()
  const { id: webhookId } = await database.addWebhook(accountId, { url: 'http://localhost' })
  const lease = { webhookId, dispatcher: '', epoch: 0 }
  const list = () => listStoredRequests(db, { lease, accountId }, 10)

  const earlier = await sql.reserve()
  await earlier`BEGIN`
  await earlier`SELECT pg_current_xact_id()`
  const position = await db.transaction((tx) => insertTestEvent(tx, accountId, webhookId))
  expect(await list()).toEqual({ requests: [], lost: [] })
  await earlier`COMMIT`
  earlier.release()
  // Transactions of other tests hold it back as well.
  const { requests } = await until('the event to be readable', async () => {
    const stored = await list()
    expect(stored.lost).toEqual([])
    return stored.requests.length > 0 && stored
  })
  expect(requests[0]?.eventIds).toEqual([position && formatEventId(position)])
})

test('the events of all due deliveries are read in one query, those in order that retention has left', async () => {
  const { sql } = database
  const accountId = await database.addAccount()
  const { id: webhookId } = await database.addWebhook(accountId, { url: 'http://localhost' })
  const lease = { webhookId, dispatcher: '', epoch: 0 }
  const eventIds: string[] = []
  for (let count = 0; count < 40; count++)
    eventIds.push(await database.addEvent(accountId, { messageId: makeMessageId('1') }))
  const ofOthers = await database.addEvent(await database.addAccount())
  const [removed = '', ...kept] = eventIds
  await sql`DELETE FROM events WHERE account_id = ${accountId} AND id = ${parseEventId(removed)?.id ?? 0}`
  for (const ids of [
    [removed, ...kept.slice(0, 30)],
    kept.slice(30).reverse(),
    [removed],
    [ofOthers, 'evt_0'],
  ])
    await sql`
      INSERT INTO webhook_deliveries (webhook_id, event_ids, attempts, next_attempt_at)
      VALUES (${webhookId}, ${ids}, 1, now())`

  const db = openDatabase(database.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 5000 })
  onTestFinished(() => closeDatabase(db))
  await db.$client`SELECT`
  const statements: string[] = []
  Object.assign(db.$client.options, { debug: (_: number, statement: string) => statements.push(statement) })
  const { requests, lost } = await until('the events to be readable', async () => {
    statements.splice(0)
    const stored = await listStoredRequests(db, { lease, accountId }, 10)
    return stored.lost.length === 2 && stored.requests.length === 2 && stored
  })
  expect(requests.map((request) => request.eventIds)).toEqual([kept.slice(0, 30), kept.slice(30).reverse()])
  expect(lost).toHaveLength(2)
  // The deliveries, the events, and their messages.
  expect(statements).toHaveLength(3)
})
