import { closeDatabase, openDatabase } from '@wagate/db/client'
import { checkInstallation } from '@wagate/db/queries/statements/installation'
import { warnOfUnauthenticatedTls } from '@wagate/db/tls'
import { untilAvailable } from '@wagate/db/until-available'
import { makeEventHints } from '@wagate/queue/event-hints'
import { refuseEvictingRedis } from '@wagate/queue/redis'
import { openRedisLinks } from '@wagate/queue/redis-links'
import { readEnv } from '@wagate/runtime/env'
import { eventLoopSampleMs } from '@wagate/runtime/event-loop-sample-ms'
import { makeHostNames } from '@wagate/runtime/host-names'
import { answerMetrics, startInternalServer } from '@wagate/runtime/internal-server'
import { makeLogger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import { untilAborted } from '@wagate/runtime/until-aborted'
import { pickSettings } from '@wagate/shared/settings'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { readMasterKeys } from '../config/master-keys.ts'
import { makeDispatcherMetrics } from './dispatcher-metrics.ts'
import { startWebhooks } from './start-webhooks.ts'

export const dispatcherShape = pickSettings(
  'DATABASE_URL',
  'REDIS_URL',
  'MASTER_KEY',
  'MASTER_KEYS_OTHER',
  'LOG_LEVEL',
  'METRICS_HOST',
  'METRICS_PORT',
  'SHARDS',
  'WHATSAPP_NETWORK',
  'DNS_SERVERS',
  'ALLOW_PRIVATE_WEBHOOK_HOSTS',
  'PUBLIC_URL',
)

/** The process of `wagate dispatcher`: delivers webhooks until the signal. Returns its exit code. */
export async function runDispatcher(
  env: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<number> {
  const config = readEnv(dispatcherShape, env)
  const logger = makeLogger('dispatcher', config.LOG_LEVEL)
  warnOfUnauthenticatedTls(config.DATABASE_URL, logger)
  const db = openDatabase(config.DATABASE_URL, {
    poolSize: 8,
    applicationName: 'wagate-dispatcher',
    statementTimeoutMs: 4000,
    plans: 'generic',
  })
  const masterKeys = readMasterKeys(config.MASTER_KEY, config.MASTER_KEYS_OTHER)
  const expected = { shards: config.SHARDS, network: config.WHATSAPP_NETWORK }
  await refuseEvictingRedis(config.REDIS_URL)
  await untilAvailable(() => checkInstallation(db, expected), makeOutageLog(logger, 'postgres'))
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  const links = openRedisLinks(config.REDIS_URL, { onError: makeOutageLog(logger, 'redis').failed })
  const eventHints = makeEventHints(links)
  const health = await startInternalServer(
    { host: config.METRICS_HOST, port: config.METRICS_PORT },
    {
      '/health/live': () => ({ status: 200, body: { ok: true } }),
      '/metrics': () => answerMetrics(registry),
    },
  )
  const webhooks = startWebhooks({
    db,
    redisUrl: config.REDIS_URL,
    eventHints,
    logger,
    metrics: makeDispatcherMetrics(registry),
    masterKeys,
    hostNames: makeHostNames({ servers: config.DNS_SERVERS }),
    allowsPrivateHosts: config.ALLOW_PRIVATE_WEBHOOK_HOSTS,
    publicUrl: config.PUBLIC_URL,
  })
  logger.info({ healthPort: health.port }, 'Dispatcher started')
  await untilAborted(signal)
  await webhooks.close()
  await Promise.all([health.close(), eventHints.close(), links.close(), closeDatabase(db)])
  logger.info('Dispatcher stopped')
  return 0
}
