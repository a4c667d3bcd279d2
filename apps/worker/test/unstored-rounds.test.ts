import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openWebhookDatabase, type WebhookDatabase } from './webhook-database.ts'
import { openWebhookTarget, type WebhookTarget } from './webhook-target.ts'

const applicationName = 'unstored-rounds'
let database: WebhookDatabase
let ofDispatcher: Database
let target: WebhookTarget
let accountId: number

beforeAll(async () => {
  database = await openWebhookDatabase()
  const options = { poolSize: 4, applicationName, statementTimeoutMs: 5000 }
  ofDispatcher = openDatabase(database.url, options)
})
afterAll(async () => {
  await closeDatabase(ofDispatcher)
  await database.drop()
})
beforeEach(async () => {
  target = await openWebhookTarget()
  accountId = await database.addAccount()
  await database.addWebhook(accountId, { url: target.url })
})
afterEach(async () => {
  await setReadOnly(false)
  await database.sql.unsafe('DROP FUNCTION IF EXISTS refuse_round CASCADE')
  await database.stopAll()
  await database.sql`DELETE FROM webhooks`
  await database.sql`DELETE FROM webhook_dispatchers`
  target.close()
})

/** For the dispatcher, as after a fail-over to a standby: its sessions read and cannot write. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const name = new URL(database.url).pathname.slice(1)
  // The session of the test stays as it is.
  await database.sql.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${isReadOnly}`)
  await database.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${applicationName}`
}

async function countRefusals(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    SELECT xact_rollback::int AS count FROM pg_stat_database WHERE datname = current_database()`
  return row?.count ?? 0
}

async function untilRefusals(count: number): Promise<void> {
  const before = await countRefusals()
  await until(`${count} refused writes`, async () => (await countRefusals()) >= before + count)
}

async function addEvents(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let deviceId = 1; deviceId <= count; deviceId++) {
    ids.push(await database.addEvent(accountId, { deviceId }))
  }
  return ids
}

const untilReceived = (eventIds: string[]) =>
  until('the events to be delivered', () => eventIds.every((id) => target.eventIds().includes(id)))

/** Refuses rounds with an error that says that their content is bad. Counts them. */
async function refuseRounds(errorCode: string): Promise<void> {
  await database.sql.unsafe(`
    CREATE SEQUENCE IF NOT EXISTS refused_rounds;
    CREATE FUNCTION refuse_round() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('refused_rounds'); RAISE EXCEPTION 'refused' USING ERRCODE = '${errorCode}'; END $$;
    CREATE TRIGGER refuse_round BEFORE UPDATE ON webhooks FOR EACH ROW
      WHEN (NEW.last_success_at IS DISTINCT FROM OLD.last_success_at) EXECUTE FUNCTION refuse_round()`)
}

test('while Postgres is read-only, no event is posted twice, and all are delivered once it is writable', async () => {
  const limits = { leaseMs: 60_000, failurePause: { firstMs: 10, maxMs: 40 } }
  const dispatcher = database.start({ limits }, ofDispatcher)
  await until('the webhook', () => dispatcher.webhookIds().length === 1)
  await setReadOnly(true)
  const events = await addEvents(60)
  await untilRefusals(60)
  expect(target.requests.length).toBeGreaterThan(0)
  expect(target.requests.length).toBe(target.eventIds().length)
  await setReadOnly(false)
  await untilReceived(events)
  expect(target.requests).toHaveLength(events.length)
  const [later = ''] = await addEvents(1)
  await untilReceived([later])
  expect(target.requests).toHaveLength(events.length + 1)
})

test('a dispatcher that cannot renew its lease posts nothing once it has ended', async () => {
  const limits = { leaseMs: 500 }
  const dispatcher = database.start({ limits }, ofDispatcher)
  await untilReceived(await addEvents(1))
  await setReadOnly(true)
  await until('the lease to end', async () => {
    const [row] = await database.sql`SELECT FROM webhook_dispatchers WHERE lease_until > now()`
    return row === undefined
  })
  const events = await addEvents(3)
  // Its poll may be among what is refused.
  dispatcher.wakeAccount(accountId)
  await untilRefusals(20)
  expect(target.requests).toHaveLength(1)
  expect(dispatcher.webhookIds()).toHaveLength(1)
  await setReadOnly(false)
  await untilReceived(events)
  expect(target.requests).toHaveLength(4)
})

test('a round whose content is refused is posted again after a pause that grows', async () => {
  await refuseRounds('22000')
  const firstMs = 100
  const times: number[] = []
  target.answer = (_, response) => {
    times.push(performance.now())
    response.end()
  }
  database.start({ limits: { failurePause: { firstMs, maxMs: 60_000 } } }, ofDispatcher)
  const [event = ''] = await addEvents(1)
  await until('the fifth request', () => times.length === 5)
  const gapsMs = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  gapsMs.forEach((gapMs, index) => {
    expect(gapMs).toBeGreaterThanOrEqual((firstMs * 2 ** index) / 2)
  })
  expect(target.eventIds()).toEqual([event])
})

test('a round with an answer that Postgres refuses is stored without it, and not posted again', async () => {
  await database.sql.unsafe(`
    CREATE FUNCTION refuse_round() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22021'; END $$;
    CREATE TRIGGER refuse_round BEFORE INSERT ON webhook_attempts FOR EACH ROW
      WHEN (NEW.answer IS NOT NULL) EXECUTE FUNCTION refuse_round()`)
  target.answer = (_, response) => response.writeHead(500).end('strange')
  database.start({}, ofDispatcher)
  const [event = ''] = await addEvents(1)
  const attempts = await until('the attempt', async () => {
    const rows = await database.sql`SELECT status, answer FROM webhook_attempts`
    return rows.length > 0 && [...rows]
  })
  expect(attempts).toEqual([{ status: 500, answer: null }])
  expect(target.eventIds()).toEqual([event])
})

test('what a webhook could not store is stored when its dispatcher stops', async () => {
  const pauseMs = 60_000
  const limits = { leaseMs: 60_000, failurePause: { firstMs: pauseMs, maxMs: pauseMs } }
  const dispatcher = database.start({ limits }, ofDispatcher)
  await until('the webhook', () => dispatcher.webhookIds().length === 1)
  await refuseRounds('25006')
  // Only one: a round may begin between two, and after its failure the next one begins in a minute.
  await untilReceived(await addEvents(1))
  await until('a refused round', async () => {
    const [row] = await database.sql`SELECT is_called FROM refused_rounds`
    return row?.is_called === true
  })
  await database.sql.unsafe('DROP FUNCTION refuse_round CASCADE')
  await dispatcher.close()
  database.start({}, ofDispatcher)
  const [later = ''] = await addEvents(1)
  await untilReceived([later])
  expect(target.requests).toHaveLength(2)
})
