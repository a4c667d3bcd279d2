import { countUnownedMessages } from '@wagate/db/queries/devices/due-counts'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { ApiContext } from './calls/context.ts'
import type { Config } from './config.ts'
import type { Connections } from './connections.ts'
import { type ApiKeyCache, makeApiKeyCache } from './credentials/api-key-cache.ts'
import type { Reception } from './credentials/authenticate.ts'
import type { CommandDispatcher } from './devices/command-dispatcher.ts'
import { makeEventStreams } from './event-streams/event-streams.ts'
import { makeEventFeed } from './events/event-feed.ts'
import {
  addEventGauges,
  addReadinessGauges,
  addUnownedGauge,
  type Metrics,
  makeMetrics,
} from './health/metrics.ts'
import { makeReadinessCheck, type Readiness } from './health/readiness.ts'
import { makeLargeBodies } from './http/large-bodies.ts'
import { type Limits, makeLimits } from './limits/limits.ts'
import { makeMailer } from './mail/mailer.ts'
import { makeBacklogs } from './messages/backlogs.ts'
import { makeHistory } from './messages/history.ts'
import { makeMessageIntake } from './messages/message-intake.ts'
import { makeOutcomeWaits } from './messages/outcome-waits.ts'
import { makeMediaLinks } from './received-media/media-links.ts'

/** Of messages without a worker, no more are counted. */
const unownedMax = 1000
const streamHeartbeatMs = 15_000

type Parts = {
  log: Logger
  connections: Connections
  dispatcher: CommandDispatcher
  closing: AbortSignal
}

const exportsMax = { process: 8, account: 1 }
const mediaReads = { process: 256, account: 16 }
/** In files of the largest size: what uploads may have in the staging folder. */
const uploadFiles = { process: 4, account: 1 }

/** All that one API process works with, without its sockets. */
export type Gateway = {
  context: ApiContext
  reception: Reception
  metrics: Metrics
  readReadiness(): Promise<Readiness>
}

export function makeGateway(config: Config, parts: Parts): Gateway {
  const { db, readDb, events, accountEvents, rateLimits } = parts.connections
  const metrics = makeMetrics()
  const readReadiness = makeReadinessCheck({ db, events }, config.installation)
  addReadinessGauges(metrics, readReadiness)
  addUnownedGauge(metrics, async () =>
    (await readReadiness()).orphanedShards === 0 ? 0 : countUnownedMessages(readDb, unownedMax),
  )
  const keys = makeApiKeyCache(db)
  accountEvents.onChanged(keys.forget)
  const context = makeContext(config, parts, { metrics, keys })
  addEventGauges(metrics, context.events)
  const reception = makeReception(config, parts.log, { keys, limits: makeLimits(rateLimits, config.limits) })
  return { context, reception, metrics, readReadiness }
}

function makeContext(
  config: Config,
  { log, connections, dispatcher, closing }: Parts,
  { metrics, keys }: { metrics: Metrics; keys: ApiKeyCache },
): ApiContext {
  const { db, readDb, accountEvents, eventHints, webhookHints } = connections
  const onReadError = makeOutageLog(log, 'postgres').failed
  const feed = makeEventFeed(readDb, eventHints)
  const links = makeMediaLinks(readDb, config.http.publicUrl)
  const { smtpUrl, from } = config.mail
  const { messagesMax, mediaBytesMax } = config.queue
  const { largestBytesMax } = config.media
  return {
    config,
    log,
    db,
    readDb,
    keys,
    mailer: smtpUrl === undefined ? undefined : makeMailer({ smtpUrl, from, log, metrics }),
    notify: {
      enqueueCommand: dispatcher.enqueue,
      publishEventHint: eventHints.publish,
      publishWebhookHint: (webhookId) => void webhookHints.add(webhookId),
      async accountChanged(accountId) {
        keys.forget(accountId)
        await accountEvents.publishChanged(accountId)
      },
    },
    events: {
      feed,
      streams: makeEventStreams(feed, {
        getLinker: links.getLinker,
        closing,
        heartbeatMs: streamHeartbeatMs,
        onError: onReadError,
      }),
      devices: connections.events,
    },
    messages: {
      history: makeHistory(readDb),
      intake: makeMessageIntake(db, {
        backlogs: makeBacklogs(db, messagesMax, onReadError),
        enqueueCommand: dispatcher.enqueue,
        publishEventHint: eventHints.publish,
        mediaBytesMax,
      }),
      outcomeWaits: makeOutcomeWaits(db, { events: connections.events, closing }),
    },
    media: {
      store: openMediaStore(config.media.store),
      links,
      reads: makeFairSemaphore(mediaReads.process, { shareMax: mediaReads.account }),
      uploadBytes: makeFairSemaphore(uploadFiles.process * largestBytesMax, {
        shareMax: uploadFiles.account * largestBytesMax,
      }),
    },
    exports: makeFairSemaphore(exportsMax.process, { shareMax: exportsMax.account }),
    closing,
  }
}

function makeReception(
  { http }: Config,
  log: Logger,
  { keys, limits }: { keys: ApiKeyCache; limits: Limits },
): Reception {
  let isKeyInUrlNoted = false
  return {
    keys,
    limits,
    allowsQuery: http.allowsQueryApiKey,
    largeBodies: makeLargeBodies(http.bodyMemoryBytes),
    noteKeyInUrl() {
      if (isKeyInUrlNoted) return
      isKeyInUrlNoted = true
      log.warn(
        'A request has its API key in the URL, where proxies log it. Callers should use the header x-api-key. ALLOW_QUERY_API_KEY=false refuses keys in URLs.',
      )
    },
  }
}
