import { randomBytes } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import {
  insertWebhook,
  insertWebhookSecret,
  type WebhookSettings,
} from '@wagate/db/queries/webhooks/webhooks'
import { makeHostNames } from '@wagate/runtime/host-names'
import { makeLogger } from '@wagate/runtime/logger'
import { type EventPosition, firstPosition, formatEventId } from '@wagate/shared/event-ids'
import { eventTypes } from '@wagate/shared/event-types'
import { sealBox } from '@wagate/shared/sealed-box'
import { makeWebhookSecret, webhookSecretContext } from '@wagate/shared/webhook-signature'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { Registry } from 'prom-client'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { proxyBoxKey } from '../src/session/network/proxy-box.ts'
import { type Dispatcher, type DispatcherOptions, startDispatcher } from '../src/webhooks/dispatcher.ts'
import type { DispatcherLimits } from '../src/webhooks/dispatcher-context.ts'
import { makeDispatcherMetrics } from '../src/webhooks/dispatcher-metrics.ts'

export type WebhookDatabase = Awaited<ReturnType<typeof openWebhookDatabase>>

export const masterKeys = readMasterKeys(randomBytes(32))

/** Without the waits of a real target. */
const fast: Partial<DispatcherLimits> = {
  heartbeatMs: 100,
  pollMs: 20,
  idlePollMs: 20,
  retryDelaysMs: [20, 20, 20],
  circuit: { failuresMax: 10, probeMinMs: 20, probeMaxMs: 40 },
}

/** A database with accounts, webhooks and events, and the dispatchers that work on it. */
export async function openWebhookDatabase() {
  const database = await createTestDatabase()
  const db = openDatabase(database.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 5000 })
  const running: { close(): Promise<void> }[] = []
  const sql = db.$client

  async function addAccount(): Promise<number> {
    const [account] = await sql<{ id: number }[]>`
      INSERT INTO accounts (email, password_hash, role, devices_allowed)
      VALUES (gen_random_uuid()::text, 'x', 'USER', 9) RETURNING id`
    return account?.id ?? 0
  }

  async function addWebhook(accountId: number, settings: Partial<WebhookSettings> & { url: string }) {
    const secret = makeWebhookSecret()
    const id = await db.transaction(async (tx) => {
      const id = await insertWebhook(tx, accountId, { name: 'test', ...settings }, firstPosition)
      await insertWebhookSecret(tx, id, sealSecret(secret, id))
      return id
    })
    return { id, secret }
  }

  /** Each statement is a transaction. Returns the id of the event. */
  async function addEvent(
    accountId: number,
    { deviceId = 1, messageId, type = 'message.sent' }: NewEvent = {},
  ): Promise<string> {
    const [position] = await sql<EventPosition[]>`
      INSERT INTO events (account_id, device_id, type, message_id)
      VALUES (${accountId}, ${deviceId}, ${eventTypes[type]}, ${messageId ?? null})
      RETURNING epoch, tx::text, id::text, floor(extract(epoch FROM created_at))::float8 AS seconds`
    return position ? formatEventId(position) : ''
  }

  function start(
    { limits, ...options }: Partial<DispatcherOptions> = {},
    ofDispatcher: Database = db,
  ): Dispatcher {
    const dispatcher = startDispatcher({
      db: ofDispatcher,
      logger: makeLogger('test', 'silent'),
      metrics: makeDispatcherMetrics(new Registry()),
      masterKeys,
      hostNames: makeHostNames(),
      allowsPrivateHosts: true,
      limits: { ...fast, ...limits },
      ...options,
    })
    running.push(dispatcher)
    return dispatcher
  }

  return {
    url: database.url,
    db,
    sql,
    addAccount,
    addWebhook,
    addEvent,
    start,
    /** Ends the dispatchers of a test. */
    async stopAll() {
      await Promise.all(running.splice(0).map((dispatcher) => dispatcher.close()))
    },
    async drop() {
      await closeDatabase(db)
      await database.drop()
    },
  }
}

type NewEvent = { deviceId?: number; messageId?: string; type?: keyof typeof eventTypes }

export function sealSecret(secret: string, webhookId: number): Buffer {
  const { current } = masterKeys
  const recipient = { id: current.id, publicKey: proxyBoxKey(current).publicKey }
  return sealBox(recipient, Buffer.from(secret), webhookSecretContext(webhookId))
}
