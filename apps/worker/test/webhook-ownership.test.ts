import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { claimWebhooks, renewDispatcher, type WebhookLease } from '@wagate/db/queries/webhooks/webhook-leases'
import { disableWebhook, type Round, recordRound } from '@wagate/db/queries/webhooks/webhook-rounds'
import {
  deleteWebhook,
  setWebhookEnabled,
  setWebhookPosition,
  updateWebhook,
} from '@wagate/db/queries/webhooks/webhooks'
import { firstPosition } from '@wagate/shared/event-ids'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Dispatcher } from '../src/webhooks/dispatcher.ts'
import { openWebhookDatabase, type WebhookDatabase } from './webhook-database.ts'
import { openWebhookTarget, type WebhookTarget } from './webhook-target.ts'

let database: WebhookDatabase
let target: WebhookTarget
let accountId: number

beforeAll(async () => {
  database = await openWebhookDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  target = await openWebhookTarget()
  accountId = await database.addAccount()
})
afterEach(async () => {
  await database.stopAll()
  await database.sql`DELETE FROM webhooks`
  await database.sql`DELETE FROM webhook_dispatchers`
  target.close()
})

const untilOwned = (dispatcher: Dispatcher, count: number) =>
  until(`${count} webhooks to be owned`, () => dispatcher.webhookIds().length === count)

const untilReceived = (eventIds: string[]) =>
  until('the events to be delivered', () => eventIds.every((id) => target.eventIds().includes(id)))

async function addWebhooks(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await database.addWebhook(accountId, { url: target.url })
}

test('two dispatchers divide the webhooks, and the second takes over those of the first when it stops', async () => {
  await addWebhooks(6)
  const first = database.start()
  await untilOwned(first, 6)
  const second = database.start()
  await untilOwned(second, 3)
  await untilOwned(first, 3)
  await first.close()
  await untilOwned(second, 6)
})

test('a dispatcher that gives away a webhook renews its lease while the target does not answer', async () => {
  await addWebhooks(2)
  const limits = { leaseMs: 1500, requestMs: 30_000 }
  const unanswered: ServerResponse[] = []
  target.answer = (_, response) => void unanswered.push(response)
  const first = database.start({ limits })
  await database.addEvent(accountId)
  await until('both requests', () => unanswered.length === 2)
  const second = database.start({ limits })
  await untilOwned(first, 1)
  await delay(2 * limits.leaseMs)
  expect(second.webhookIds()).toEqual([])
  for (const response of unanswered) response.end()
  await untilOwned(second, 1)
  expect(first.webhookIds()).toHaveLength(1)
})

test('a webhook that could not be given away is given away later', async () => {
  await addWebhooks(2)
  const first = database.start()
  await untilOwned(first, 2)
  await database.sql.unsafe(`
    CREATE SEQUENCE refused_releases;
    CREATE FUNCTION refuse_release() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('refused_releases'); RAISE EXCEPTION 'refused'; END $$;
    CREATE TRIGGER refuse_release BEFORE UPDATE ON webhooks FOR EACH ROW
      WHEN (NEW.dispatcher IS NULL) EXECUTE FUNCTION refuse_release()`)
  const second = database.start()
  await until('a refused release', async () => {
    const [row] = await database.sql`SELECT is_called FROM refused_releases`
    return row?.is_called === true
  })
  await database.sql`DROP FUNCTION refuse_release CASCADE`
  await untilOwned(second, 1)
  expect(first.webhookIds()).toHaveLength(1)
})

test('the webhooks of a dispatcher that is silent for its lease are taken over, with their events', async () => {
  await addWebhooks(1)
  const link = await startTcpProxy(database.url)
  const options = { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 }
  const behindLink = openDatabase(link.url, options)
  const silent = database.start({ limits: { leaseMs: 500 } }, behindLink)
  await untilReceived([await database.addEvent(accountId)])
  link.freeze()
  const eventId = await database.addEvent(accountId)
  const next = database.start({ limits: { leaseMs: 500 } })
  await untilReceived([eventId])
  expect(next.webhookIds()).toHaveLength(1)
  link.heal()
  await untilOwned(silent, 0)
  await database.stopAll()
  await closeDatabase(behindLink)
  await link.close()
})

test('a changed webhook continues with its new target', async () => {
  const { id } = await database.addWebhook(accountId, { url: 'http://127.0.0.1:1/' })
  const dispatcher = database.start()
  await untilOwned(dispatcher, 1)
  await database.sql`
    UPDATE webhooks SET url = ${target.url}, dispatcher = NULL, lease_epoch = lease_epoch + 1 WHERE id = ${id}`
  dispatcher.wake(id)
  await untilReceived([await database.addEvent(accountId)])
})

/** As the API makes it, without a hint to the dispatcher. */
const changes = {
  'another URL': (id: number, url: string) => updateWebhook(database.db, accountId, id, { url }),
  'disabled and enabled': async (id: number, url: string) => {
    await setWebhookEnabled(database.db, accountId, id, false)
    await updateWebhook(database.db, accountId, id, { url })
    await setWebhookEnabled(database.db, accountId, id, true)
  },
  deleted: async (id: number, url: string) => {
    await deleteWebhook(database.db, accountId, id)
    await database.addWebhook(accountId, { url })
  },
}

test.each(Object.entries(changes))('a round in progress ends with a change: %s', async (_, change) => {
  const { id } = await database.addWebhook(accountId, { url: target.url })
  const other = await openWebhookTarget()
  const unanswered: ServerResponse[] = []
  target.answer = (_, response) => void unanswered.push(response)
  const events: string[] = []
  for (let deviceId = 1; deviceId <= 10; deviceId++) {
    events.push(await database.addEvent(accountId, { deviceId }))
  }
  // No heartbeat notices the change.
  const dispatcher = database.start({ limits: { heartbeatMs: 60_000, leaseMs: 200_000 } })
  await until('the requests in flight', () => unanswered.length === 4)
  await change(id, other.url)
  await untilOwned(dispatcher, 0)
  for (const response of unanswered) response.end()
  await until('the new target', () => events.every((event) => other.eventIds().includes(event)))
  expect(target.requests).toHaveLength(4)
  other.close()
})

test('a deleted webhook gets no further events', async () => {
  const { id } = await database.addWebhook(accountId, { url: target.url })
  const other = await openWebhookTarget()
  await database.addWebhook(accountId, { url: other.url })
  const dispatcher = database.start()
  await untilOwned(dispatcher, 2)
  await database.sql`DELETE FROM webhooks WHERE id = ${id}`
  await untilOwned(dispatcher, 1)
  const later = await database.addEvent(accountId)
  await until('the other webhook', () => other.eventIds().includes(later))
  expect(target.requests).toEqual([])
  other.close()
})

const round: Round = {
  key: randomUUID(),
  position: { ...firstPosition, tx: '5', id: '6', seconds: 7 },
  parked: [{ eventIds: ['evt_1'], attempts: 1, delayMs: 1000 }],
  repeated: [],
  done: [],
  attempts: [],
  result: 'failed',
  hasFailure: true,
  isBacklogFull: false,
}

async function claim(): Promise<WebhookLease> {
  const dispatcher = randomUUID()
  await renewDispatcher(database.db, dispatcher, 60_000)
  const [lease] = await claimWebhooks(database.db, dispatcher, 1)
  return lease ?? expect.fail('nothing to claim')
}

test('a former dispatcher neither moves the position, nor parks, nor disables', async () => {
  const { id } = await database.addWebhook(accountId, { url: target.url })
  const former = await claim()
  await database.sql`UPDATE webhook_dispatchers SET lease_until = now() WHERE id = ${former.dispatcher}`
  const present = await claim()
  expect(present).toMatchObject({ webhookId: id, epoch: former.epoch + 1 })
  expect(await recordRound(database.db, former, round)).toBeUndefined()
  expect(await disableWebhook(database.db, former, 'gone')).toBe(false)
  const [before] = await database.sql`
    SELECT tx, failing_since, disabled_at, (SELECT count(*)::int FROM webhook_deliveries) AS parked FROM webhooks`
  expect(before).toEqual({ tx: '0', failing_since: null, disabled_at: null, parked: 0 })
  expect(await recordRound(database.db, present, round)).toBeDefined()
  const [after] = await database.sql`
    SELECT tx, (SELECT count(*)::int FROM webhook_deliveries) AS parked,
      last_success_at, last_failure_at IS NOT NULL AS "isFailureNoted" FROM webhooks`
  expect(after).toEqual({ tx: '5', parked: 1, last_success_at: null, isFailureNoted: true })
})

test('a webhook of a live dispatcher is not claimed', async () => {
  await database.addWebhook(accountId, { url: target.url })
  await claim()
  const other = randomUUID()
  await renewDispatcher(database.db, other, 60_000)
  expect(await claimWebhooks(database.db, other, 10)).toEqual([])
})

test('a round that began before a change of the account is not recorded', async () => {
  const { id } = await database.addWebhook(accountId, { url: target.url })
  const before = await claim()
  await setWebhookPosition(database.db, accountId, id, { ...firstPosition, tx: '3' })
  const [after] = await claimWebhooks(database.db, before.dispatcher, 1)
  expect(after?.webhookId).toBe(id)
  expect(await recordRound(database.db, before, round)).toBeUndefined()
  const [row] = await database.sql`SELECT tx FROM webhooks`
  expect(row).toEqual({ tx: '3' })
})

const setDisabled = (isDisabled: boolean) => database.sql`
  UPDATE accounts SET disabled_at = ${isDisabled ? new Date().toISOString() : null} WHERE id = ${accountId}`

test('the webhooks of a disabled account wait, and what happened meanwhile is delivered afterwards', async () => {
  const otherAccount = await database.addAccount()
  const other = await openWebhookTarget()
  const { id } = await database.addWebhook(accountId, { url: target.url })
  await database.addWebhook(otherAccount, { url: other.url })
  const dispatcher = database.start()
  await untilOwned(dispatcher, 2)
  await setDisabled(true)
  await untilOwned(dispatcher, 1)
  const meanwhile = await database.addEvent(accountId)
  const ofOther = await database.addEvent(otherAccount)
  await until('the other account', () => other.eventIds().includes(ofOther))
  // A dispatcher that starts now claims it as little.
  const second = database.start()
  second.wake(id)
  await until('the end of its first beat', async () => {
    const [row] = await database.sql`SELECT count(*)::int AS live FROM webhook_dispatchers`
    return row?.live === 2
  })
  expect(second.webhookIds()).toEqual([])
  expect(target.requests).toEqual([])
  await setDisabled(false)
  await untilReceived([meanwhile])
  other.close()
})
