import { randomUUID } from 'node:crypto'
import { closeDatabase, type DatabaseOptions, openDatabase } from '@wagate/db/client'
import { readSignalFormat, type SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import { checkInstallation, claimNetwork } from '@wagate/db/queries/statements/installation'
import { warnOfUnauthenticatedTls } from '@wagate/db/tls'
import { untilAvailable } from '@wagate/db/until-available'
import type { MediaStore } from '@wagate/media-store/media-store'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { type DeviceEvents, makeDeviceEvents } from '@wagate/queue/device-events'
import { type EventHints, makeEventHints } from '@wagate/queue/event-hints'
import { refuseEvictingRedis } from '@wagate/queue/redis'
import { openRedisLinks, type RedisLinks } from '@wagate/queue/redis-links'
import { type HostNames, makeHostNames } from '@wagate/runtime/host-names'
import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import type { Config } from './config/config.ts'
import { makeDeviceContext } from './device/device-context.ts'
import { startHealth } from './health.ts'
import { type Inspector, makeInspector } from './media/inspection/inspector.ts'
import {
  addGauges,
  addPartitionGauge,
  addVersionAgeGauge,
  addWaitingGauges,
  type Metrics,
  makeMetrics,
} from './metrics/metrics.ts'
import { type Ownership, type OwnershipState, startOwnership } from './ownership/ownership.ts'
import { startMediaRetention } from './received-media/media-retention.ts'
import { type ClientVersion, startClientVersion } from './session/network/client-version.ts'
import { makeReadServedVersion } from './session/network/served-version.ts'
import { startShardHost } from './shards/shard-host.ts'
import { checkMasterKeys } from './stored-keys/check-master-keys.ts'
import { startHousekeeping } from './upkeep/housekeeping.ts'
import { makeDispatcherMetrics } from './webhooks/dispatcher-metrics.ts'
import { startWebhooks } from './webhooks/start-webhooks.ts'

export type RunningWorker = Running & { readonly healthPort: number; state(): OwnershipState }

const statementTimeoutMs = 4000
const tickMs = 500

/**
 * Waits for Postgres without a limit, then claims shards in the background. Redis may become available later. Throws when
 * the installation has another number of shards or belongs to another network.
 */
export async function startWorker(config: Config, logger: Logger): Promise<RunningWorker> {
  warnOfUnauthenticatedTls(config.databaseUrl, logger)
  const metrics = makeMetrics()
  const inspector = makeInspector({ logger })
  const mediaStore = openMediaStore(config.receivedMedia.store)
  const hostNames = makeHostNames({ servers: config.dnsServers })
  const redis = openRedisLinks(config.redisUrl, { onError: makeOutageLog(logger, 'redis').failed })
  const events = makeDeviceEvents(redis)
  const eventHints = makeEventHints(redis)
  const databases = openDatabases(config, eventHints.publish)

  async function release(): Promise<void> {
    await Promise.all([eventHints.close(), redis.close(), inspector.close()])
    await Promise.all(Object.values(databases).map(closeDatabase))
  }

  try {
    let signalFormat: SignalFormat = 1
    const check = async () => {
      await checkInstallation(databases.ownership, config.installation)
      await claimNetwork(databases.ownership.$client, config.installation.network)
      await checkMasterKeys(databases.sessions, config.masterKeys)
      signalFormat = await readSignalFormat(databases.ownership)
    }
    await refuseEvictingRedis(config.redisUrl)
    await untilAvailable(check, makeOutageLog(logger, 'postgres'))
    const clientVersion = await startClientVersion(config.whatsApp.version, {
      db: databases.sessions,
      logger,
      readServed: makeReadServedVersion({ simulatedHost: config.whatsApp.mediaHost }),
    })
    addVersionAgeGauge(metrics, clientVersion.ageDays)
    // Last, so that no shard is owned when something else cannot start.
    const health = await startHealth(config.metrics, metrics, {
      readOwnership: () => owner.state(),
      checkRedis: events.checkRedis,
      countPartitionWeeksAhead: () => housekeeping.partitionWeeksAhead(),
    })
    const owner = startOwner({
      signalFormat,
      clientVersion,
      config,
      logger,
      metrics,
      databases,
      redis,
      events,
      eventHints,
      inspector,
      mediaStore,
      hostNames,
    })
    const housekeeping = startHousekeeping(databases.housekeeping, logger, config.housekeeping)
    const retention = startMediaRetention(databases.housekeeping, mediaStore, logger, {
      mediaDays: config.receivedMedia.retentionDays,
      messageDays: config.housekeeping.retentionDays,
      waitingMs: config.outbox.messageTtlMs,
    })
    addPartitionGauge(metrics, housekeeping.partitionWeeksAhead)
    const webhooks = config.webhooks.areDispatchedHere
      ? startWebhooks({
          db: databases.webhooks,
          redisUrl: config.redisUrl,
          eventHints,
          logger,
          metrics: makeDispatcherMetrics(metrics.registry),
          masterKeys: config.masterKeys,
          hostNames,
          allowsPrivateHosts: config.webhooks.allowsPrivateHosts,
          publicUrl: config.webhooks.publicUrl,
        })
      : undefined
    logger.info({ name: config.ownership.name, healthPort: health.port }, 'Worker started')

    let closed: Promise<void> | undefined
    async function close(): Promise<void> {
      await Promise.all([owner.close(), webhooks?.close()])
      await Promise.all([health.close(), clientVersion.close(), housekeeping.close(), retention.close()])
      await release()
      logger.info('Worker stopped')
    }
    return {
      healthPort: health.port,
      state: owner.state,
      close() {
        closed ??= close()
        return closed
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

type Databases = ReturnType<typeof openDatabases>

/** Separate pools: however busy the sessions are, the lease is renewed and lost shards are noticed. */
function openDatabases({ databaseUrl }: Config, onEvents: EventHints['publish']) {
  // One name for all pools: as long as Postgres sees one of their connections, the process is not dead.
  const applicationName = `wagate-worker ${randomUUID().slice(0, 8)}`
  const open = (poolSize: number, options: Pick<DatabaseOptions, 'commit' | 'plans'> = {}) =>
    openDatabase(databaseUrl, {
      poolSize,
      plans: 'generic',
      ...options,
      applicationName,
      statementTimeoutMs,
      onEvents,
    })
  return {
    sessions: open(8),
    claims: open(1, { commit: 'lazy' }),
    ownership: open(1),
    heartbeat: open(1),
    // The best plan of a deletion depends on how many rows it finds.
    housekeeping: open(1, { plans: 'auto' }),
    webhooks: open(4),
  }
}

type OwnerOf = {
  signalFormat: SignalFormat
  clientVersion: ClientVersion
  config: Config
  logger: Logger
  metrics: Metrics
  databases: Databases
  redis: RedisLinks
  events: DeviceEvents
  eventHints: EventHints
  inspector: Inspector
  mediaStore: MediaStore
  hostNames: HostNames
}

function startOwner({
  databases,
  redis,
  eventHints,
  inspector,
  mediaStore,
  hostNames,
  ...given
}: OwnerOf): Ownership {
  const { config, logger, metrics, events } = given
  const context = makeDeviceContext({
    ...given,
    media: { inspector, store: mediaStore, hostNames },
    db: databases.sessions,
    claimsDb: databases.claims,
    publishEventHint: eventHints.publish,
    onLost(lease) {
      metrics.lostShards.inc()
      ownership.lose(lease)
    },
  })
  const host = startShardHost(context, redis)
  const ownership = startOwnership({
    db: databases.ownership,
    heartbeatDb: databases.heartbeat,
    host,
    events,
    logger,
    ...config.ownership,
    shards: config.installation.shards,
    masterKeyId: config.masterKeys.current.id,
    signalFormat: given.signalFormat,
    tickMs,
  })
  addWaitingGauges(metrics, host.waits)
  addGauges(metrics, () => ({ ...ownership.state(), ...host.counts() }))
  return {
    ...ownership,
    async close() {
      await ownership.close()
      await host.close()
    },
  }
}
