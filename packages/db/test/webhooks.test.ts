import { randomUUID } from 'node:crypto'
import { firstPosition, formatEventId } from '@wagate/shared/event-ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../src/client.ts'
import { beginning, deleteOldWebhookRows } from '../src/queries/retention/housekeeping.ts'
import {
  insertTestEvent,
  listWebhookAttempts,
  replayEvents,
  replayFailedDeliveries,
} from '../src/queries/webhooks/webhook-deliveries.ts'
import { findWebhookLags } from '../src/queries/webhooks/webhook-lags.ts'
import { renewDispatcher } from '../src/queries/webhooks/webhook-leases.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  insertWebhookSecret,
  listWebhooks,
  rotateWebhookSecret,
  setWebhookEnabled,
  setWebhookPosition,
  updateWebhook,
} from '../src/queries/webhooks/webhooks.ts'
import { openAccountDatabase } from './account-database.ts'

let database: Awaited<ReturnType<typeof openAccountDatabase>>
beforeAll(async () => {
  database = await openAccountDatabase()
})
afterAll(() => database.drop())

const inTransaction = <Result>(work: (tx: Transaction) => Promise<Result>) => database.db.transaction(work)

function addWebhook(): Promise<number> {
  return inTransaction(async (tx) => {
    const settings = { url: 'https://example.com/hook', name: 'CRM' }
    const id = await insertWebhook(tx, database.accountId, settings, firstPosition)
    await insertWebhookSecret(tx, id, Buffer.from('first'))
    return id
  })
}

const listDeliveries = (webhookId: number) => database.db.$client<{ eventId: string; attempts: number }[]>`
  SELECT event_ids[1] AS "eventId", attempts FROM webhook_deliveries
  WHERE webhook_id = ${webhookId} AND next_attempt_at <= now() ORDER BY id`

test('a webhook is found by its account with its settings, and no longer after it was deleted', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  expect(await findWebhook(db, accountId, id)).toMatchObject({
    url: 'https://example.com/hook',
    types: null,
    eventsMax: 1,
    disabledAt: null,
    waiting: 0,
    failed: 0,
  })
  await updateWebhook(db, accountId, id, { types: [1, 2], eventsMax: 100 })
  expect(await findWebhook(db, accountId, id)).toMatchObject({ types: [1, 2], eventsMax: 100, name: 'CRM' })
  expect(await listWebhooks(db, accountId)).toHaveLength(1)
  expect(await deleteWebhook(db, accountId, id)).toBe(true)
  expect(await findWebhook(db, accountId, id)).toBeUndefined()
})

test('another account changes and sees nothing', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  const other = accountId + 1
  expect(await listWebhooks(db, other)).toEqual([])
  expect(await findWebhook(db, other, id)).toBeUndefined()
  expect(await updateWebhook(db, other, id, { name: 'changed' })).toBe(false)
  expect(await setWebhookEnabled(db, other, id, false)).toBe(false)
  expect(await setWebhookPosition(db, other, id, { ...firstPosition, epoch: 5 })).toBe(false)
  expect(await deleteWebhook(db, other, id)).toBe(false)
  expect(await listWebhookAttempts(db, other, id, { limit: 10 })).toEqual([])
  await inTransaction(async (tx) => {
    const secret = { sealed: Buffer.from('other'), overlapMs: 1000 }
    expect(await rotateWebhookSecret(tx, other, id, secret)).toBe('unknown')
    expect(await replayEvents(tx, other, id, [firstPosition])).toBe('unknown')
    expect(await replayFailedDeliveries(tx, other, id)).toBe('unknown')
    expect(await insertTestEvent(tx, other, id)).toBeUndefined()
  })
  expect(await listDeliveries(id)).toEqual([])
  expect(await findWebhook(db, accountId, id)).toMatchObject({ name: 'CRM', disabledAt: null })
})

test('a former secret signs as long as was promised, unless all are ended at once', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  const rotate = (name: string, overlapMs: number) =>
    inTransaction((tx) => rotateWebhookSecret(tx, accountId, id, { sealed: Buffer.from(name), overlapMs }))
  const secrets = async () => {
    const rows = await db.$client<{ name: string; signs: boolean }[]>`
      SELECT convert_from(sealed, 'UTF8') AS name, coalesce(valid_until > now(), true) AS signs FROM webhook_secrets
      WHERE webhook_id = ${id} ORDER BY id`
    return rows.filter(({ signs }) => signs).map(({ name }) => name)
  }
  expect(await rotate('second', 60_000)).toBe('rotated')
  expect(await rotate('third', 60_000)).toBe('overlapping')
  expect(await secrets()).toEqual(['first', 'second'])
  expect(await rotate('fourth', 0)).toBe('rotated')
  expect(await secrets()).toEqual(['fourth'])
  expect(await rotate('fifth', 60_000)).toBe('rotated')
  await db.$client`UPDATE webhook_secrets SET valid_until = now() WHERE webhook_id = ${id} AND valid_until IS NOT NULL`
  expect(await rotate('sixth', 60_000)).toBe('rotated')
  expect(await secrets()).toEqual(['fifth', 'sixth'])
})

test('a change ends the lease, so that late writes of the dispatcher are refused', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  const dispatcher = randomUUID()
  await renewDispatcher(db, dispatcher, 60_000)
  await db.$client`UPDATE webhooks SET dispatcher = ${dispatcher}, lease_epoch = 7 WHERE id = ${id}`
  await setWebhookPosition(db, accountId, id, { ...firstPosition, tx: '99' })
  const [row] = await db.$client`SELECT dispatcher, lease_epoch, tx FROM webhooks WHERE id = ${id}`
  expect(row).toEqual({ dispatcher: null, lease_epoch: '8', tx: '99' })
})

test('a disabled webhook says since when and why, also when it is disabled twice', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  await db.$client`UPDATE webhooks SET disabled_at = now(), disabled_reason = 'gone' WHERE id = ${id}`
  await setWebhookEnabled(db, accountId, id, false)
  expect(await findWebhook(db, accountId, id)).toMatchObject({ disabledReason: 'gone' })
  await setWebhookEnabled(db, accountId, id, true)
  expect(await findWebhook(db, accountId, id)).toMatchObject({ disabledAt: null, disabledReason: null })
})

test('events are replayed at once, and failed deliveries with all their attempts', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  const position = { epoch: 0, tx: '5', id: '6', seconds: 7 }
  await inTransaction((tx) => replayEvents(tx, accountId, id, [position]))
  const replayed = [{ eventId: formatEventId(position), attempts: 0 }]
  expect([...(await listDeliveries(id))]).toEqual(replayed)
  await db.$client`UPDATE webhook_deliveries SET attempts = 8, next_attempt_at = NULL WHERE webhook_id = ${id}`
  expect(await findWebhook(db, accountId, id)).toMatchObject({ waiting: 0, failed: 1 })
  expect(await inTransaction((tx) => replayFailedDeliveries(tx, accountId, id))).toBe(1)
  expect([...(await listDeliveries(id))]).toEqual(replayed)
})

test('a test is an event of the account with a delivery to one webhook', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  const position = await inTransaction((tx) => insertTestEvent(tx, accountId, id))
  const [delivery] = await listDeliveries(id)
  expect(position && formatEventId(position)).toBe(delivery?.eventId)
  const events = await db.$client`SELECT data FROM events WHERE id = ${position?.id ?? 0}`
  expect([...events]).toEqual([{ data: { webhook_id: id } }])
})

test('the lag is the age of the oldest wanted event that is neither delivered nor given up', async () => {
  const { db, accountId } = database
  const id = await addWebhook()
  const other = await addWebhook()
  const position = await inTransaction((tx) => insertTestEvent(tx, accountId, other))
  if (!position) throw new Error('The webhook was not found')
  for (const webhookId of [id, other]) await setWebhookPosition(db, accountId, webhookId, position)
  await updateWebhook(db, accountId, id, { types: [3] })
  await db.$client`DELETE FROM webhook_deliveries WHERE webhook_id = ${other}`
  const lags = async () => {
    const found = await findWebhookLags(db, accountId)
    return [id, other].map((webhookId) => Math.floor((found.get(webhookId) ?? -1) / 100))
  }
  expect(await lags()).toEqual([-1, -1])
  for (const [type, seconds] of [
    [2, 350],
    [3, 250],
  ] as const)
    await db.$client`
      INSERT INTO events (account_id, type, created_at)
      VALUES (${accountId}, ${type}, now() - ${seconds} * interval '1 s')`
  expect(await lags()).toEqual([2, 3])
  const [latest] = await db.$client<{ tx: string; id: string }[]>`
    SELECT tx::text, id::text FROM events WHERE account_id = ${accountId} ORDER BY events.id DESC LIMIT 1`
  const past = { ...position, ...latest }
  for (const webhookId of [id, other]) await setWebhookPosition(db, accountId, webhookId, past)
  expect(await lags()).toEqual([-1, -1])
  const parked = { ...past, seconds: Math.floor(Date.now() / 1000) - 450 }
  await inTransaction((tx) => replayEvents(tx, accountId, id, [parked]))
  expect(await lags()).toEqual([4, -1])
  await db.$client`UPDATE webhook_deliveries SET next_attempt_at = NULL WHERE webhook_id = ${id}`
  expect(await lags()).toEqual([-1, -1])
  expect([...(await findWebhookLags(db, accountId + 1))]).toEqual([])
})

test.each(['webhook_attempts', 'webhook_deliveries'] as const)(
  'rows of %s past the retention of events are deleted, younger ones stay',
  async (table) => {
    const { db } = database
    const id = await addWebhook()
    for (const [number, days] of [1, 8].entries()) {
      const createdAt = new Date(Date.now() - days * 86_400_000).toISOString()
      if (table === 'webhook_deliveries')
        await db.$client`INSERT INTO webhook_deliveries (webhook_id, event_ids, created_at) VALUES (${id}, '{}', ${createdAt})`
      else
        await db.$client`
          INSERT INTO webhook_attempts (webhook_id, number, delivery_id, event_ids, attempt, created_at, duration_ms)
          VALUES (${id}, ${number}, 'evt', '{}', 1, ${createdAt}, 5)`
    }
    await deleteOldWebhookRows(db, table, 7, beginning)
    const rows = await db.$client`
      SELECT created_at > now() - interval '2 days' AS "isYoung" FROM ${db.$client(table)} WHERE webhook_id = ${id}`
    expect([...rows]).toEqual([{ isYoung: true }])
  },
)
