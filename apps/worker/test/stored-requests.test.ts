import { insertTestEvent } from '@wagate/db/queries/webhook-deliveries'
import { formatEventId } from '@wagate/shared/event-ids'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listStoredRequests } from '../src/webhooks/stored-requests.ts'
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
