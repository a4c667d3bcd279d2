import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type AccountEvents, makeAccountEvents } from '@wagate/queue/account-events'
import { type CommandProducer, makeCommandProducer } from '@wagate/queue/command-producer'
import { type DeviceEvents, makeDeviceEvents } from '@wagate/queue/device-events'
import { type EventHints, makeEventHints } from '@wagate/queue/event-hints'
import { openRateLimits, type RateLimits } from '@wagate/queue/rate-limits'
import { openRedisLinks } from '@wagate/queue/redis-links'
import { makeWebhookHints, type WebhookHints } from '@wagate/queue/webhook-hints'
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
  const links = openRedisLinks(redisUrl, { onError })
  const eventHints = makeEventHints(links)
  const rateLimits = openRateLimits(redisUrl, { onError })
  return {
    db,
    readDb,
    producer: makeCommandProducer(links, { shards }),
    events: makeDeviceEvents(links),
    accountEvents: makeAccountEvents(links),
    eventHints,
    webhookHints: makeWebhookHints(links),
    rateLimits,
    async close() {
      await eventHints.close()
      await Promise.all([links.close(), rateLimits.close(), closeDatabase(db), closeDatabase(readDb)])
    },
  }
}
