import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type AccountEvents, openAccountEvents } from '@wagate/queue/account-events'
import { type CommandProducer, openCommandProducer } from '@wagate/queue/command-producer'
import { type DeviceEvents, openDeviceEvents } from '@wagate/queue/device-events'
import { type EventHints, openEventHints } from '@wagate/queue/event-hints'
import { openRateLimits, type RateLimits } from '@wagate/queue/rate-limits'
import { openWebhookHints, type WebhookHints } from '@wagate/queue/webhook-hints'
import type { Running } from '@wagate/runtime/running'
import type { Config } from './config.ts'

/** The connections of one API process to Postgres and Redis. */
export type Connections = Running & {
  db: Database
  /** The same database with its own pool, so that reads never take a connection from sends. */
  readDb: Database
  producer: CommandProducer
  events: DeviceEvents
  accountEvents: AccountEvents
  eventHints: EventHints
  webhookHints: WebhookHints
  rateLimits: RateLimits
}

export function openConnections(
  { databaseUrl, redisUrl, installation: { shards } }: Config,
  onRedisError: (error: unknown) => void,
): Connections {
  const onError = onRedisError
  const db = openDatabase(databaseUrl, {
    poolSize: 10,
    applicationName: 'wagate-api',
    statementTimeoutMs: 3000,
  })
  const readDb = openDatabase(databaseUrl, {
    poolSize: 8,
    applicationName: 'wagate-api reads',
    statementTimeoutMs: 2000,
  })
  const producer = openCommandProducer(redisUrl, { shards, onError })
  const events = openDeviceEvents(redisUrl, { onError })
  const accountEvents = openAccountEvents(redisUrl, { onError })
  const eventHints = openEventHints(redisUrl, { onError })
  const webhookHints = openWebhookHints(redisUrl, { onError })
  const rateLimits = openRateLimits(redisUrl, { onError })
  return {
    db,
    readDb,
    producer,
    events,
    accountEvents,
    eventHints,
    webhookHints,
    rateLimits,
    async close() {
      const redis = [producer, events, accountEvents, eventHints, webhookHints, rateLimits].map(
        (connection) => connection.close(),
      )
      await Promise.all([...redis, closeDatabase(db), closeDatabase(readDb)])
    },
  }
}
