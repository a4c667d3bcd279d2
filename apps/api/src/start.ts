import { once } from 'node:events'
import type { Server } from 'node:http'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { checkInstallation } from '@wagate/db/queries/installation'
import { warnOfUnauthenticatedTls } from '@wagate/db/tls'
import { untilAvailable } from '@wagate/db/until-available'
import { openAccountEvents } from '@wagate/queue/account-events'
import { openCommandProducer } from '@wagate/queue/command-producer'
import { openDeviceEvents } from '@wagate/queue/device-events'
import { openRateLimits } from '@wagate/queue/rate-limits'
import { refuseEvictingRedis } from '@wagate/queue/redis'
import { answerMetrics, startInternalServer } from '@wagate/runtime/internal-server'
import { listen } from '@wagate/runtime/listen'
import { makeLogger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { makeApp } from './app.ts'
import type { Config } from './config.ts'
import { makeKeyRing } from './credentials/api-key-cache.ts'
import { makeCommander } from './devices/command-dispatcher.ts'
import { makeLargeBodies } from './http/large-bodies.ts'
import { makeServer } from './http/server.ts'
import { makeLimits } from './limits/limits.ts'
import { makeBacklogs } from './messages/backlogs.ts'
import { makeHistory } from './messages/history.ts'
import { makeInbox } from './messages/message-intake.ts'
import { makeOutcomeWaits } from './messages/outcome-waits.ts'
import { addReadinessGauges, makeMetrics } from './metrics.ts'
import { makeReadinessCheck } from './readiness.ts'

const drainMs = 8000

/** Listens once Postgres answers, however long that takes; Redis may come later. `fetch` answers without a socket. */
export async function startApi(
  config: Config,
): Promise<Running & { url: string; fetch: ReturnType<typeof makeApp>['fetch'] }> {
  const log = makeLogger('api', config.LOG_LEVEL)
  const db = openDatabase(config.DATABASE_URL, {
    poolSize: 10,
    applicationName: 'wagate-api',
    statementTimeoutMs: 3000,
  })
  warnOfUnauthenticatedTls(config.DATABASE_URL, log)
  const readDb = openDatabase(config.DATABASE_URL, {
    poolSize: 8,
    applicationName: 'wagate-api reads',
    statementTimeoutMs: 2000,
  })
  const onError = makeOutageLog(log, 'redis').failed
  const producer = openCommandProducer(config.REDIS_URL, { shards: config.SHARDS, onError })
  const events = openDeviceEvents(config.REDIS_URL, { onError })
  const accountEvents = openAccountEvents(config.REDIS_URL, { onError })
  const rateLimits = openRateLimits(config.REDIS_URL, { onError })
  const metrics = makeMetrics()
  const expected = { shards: config.SHARDS, network: config.WHATSAPP_NETWORK }
  const readReadiness = makeReadinessCheck({ db, events }, expected)
  addReadinessGauges(metrics, readReadiness)
  const closing = new AbortController()

  async function release(): Promise<void> {
    const redis = [producer, events, accountEvents, rateLimits].map((connection) => connection.close())
    await Promise.all([...redis, closeDatabase(db), closeDatabase(readDb)])
  }

  try {
    await refuseEvictingRedis(config.REDIS_URL)
    await untilAvailable(() => checkInstallation(db, expected), makeOutageLog(log, 'postgres'))
    const commander = makeCommander(producer, onError)
    const onCountError = makeOutageLog(log, 'postgres').failed
    const backlogs = makeBacklogs(db, config.QUEUED_MESSAGES_MAX, onCountError)
    const limits = makeLimits(rateLimits, config)
    const keys = makeKeyRing(db)
    accountEvents.onChanged(keys.forget)
    const app = makeApp({
      config,
      log,
      metrics,
      db,
      readDb,
      history: makeHistory(readDb),
      events,
      outcomeWaits: makeOutcomeWaits(db),
      inbox: makeInbox(db, {
        backlogs,
        command: commander.place,
        mediaBytesMax: config.MEDIA_WAITING_BYTES_MAX,
      }),
      keys,
      limits,
      async accountChanged(accountId) {
        keys.forget(accountId)
        await accountEvents.publishChanged(accountId)
      },
      largeBodies: makeLargeBodies(config.BODY_MEMORY_BYTES),
      readReadiness,
      command: commander.place,
      closing: closing.signal,
    })
    const internal = await startInternalServer(
      { host: config.METRICS_HOST, port: config.METRICS_PORT },
      { '/metrics': () => answerMetrics(metrics.registry) },
    )
    const server = makeServer(app.fetch)
    server.maxConnections = config.CONNECTIONS_MAX
    const port = await listen(server, { host: config.HOST, port: config.PORT, variable: 'PORT' })
    log.info({ port, metricsPort: internal.port }, 'The API listens')

    let closed: Promise<void> | undefined
    async function close(): Promise<void> {
      closing.abort()
      await drain(server)
      await Promise.all([internal.close(), commander.finish()])
      await release()
      log.info('The API has stopped')
    }
    return {
      url: `http://${config.HOST === '0.0.0.0' ? '127.0.0.1' : config.HOST}:${port}`,
      fetch: app.fetch,
      close: () => {
        closed ??= close()
        return closed
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** Waits for the requests that are being answered, at most 8 s. */
async function drain(server: Server): Promise<void> {
  const drained = once(server, 'close')
  server.close()
  // A connection that was busy when the server closed is kept alive after its answer.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  await drained
  clearInterval(idle)
  clearTimeout(timer)
}
