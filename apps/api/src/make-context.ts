import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Config } from './config.ts'
import type { Connections } from './connections.ts'
import type { ApiContext } from './context.ts'
import { makeApiKeyCache } from './credentials/api-key-cache.ts'
import type { CommandDispatcher } from './devices/command-dispatcher.ts'
import { makeEventStreams } from './event-streams/event-streams.ts'
import { makeEventFeed } from './events/event-feed.ts'
import { makeLargeBodies } from './http/large-bodies.ts'
import { makeLimits } from './limits/limits.ts'
import { makeMailer } from './mail/mailer.ts'
import { makeBacklogs } from './messages/backlogs.ts'
import { makeHistory } from './messages/history.ts'
import { makeMessageIntake } from './messages/message-intake.ts'
import { makeOutcomeWaits } from './messages/outcome-waits.ts'
import { addEventGauges, addReadinessGauges, makeMetrics } from './metrics.ts'
import { makeReadinessCheck } from './readiness.ts'
import { makeMediaLinks } from './received-media/media-links.ts'

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

export function makeContext(config: Config, { log, connections, dispatcher, closing }: Parts): ApiContext {
  const { db, readDb, events, accountEvents, eventHints, webhookHints, rateLimits } = connections
  const metrics = makeMetrics()
  const readReadiness = makeReadinessCheck({ db, events }, config.installation)
  addReadinessGauges(metrics, readReadiness)
  const { smtpUrl, from } = config.mail
  const mailer = smtpUrl === undefined ? undefined : makeMailer({ smtpUrl, from, log, metrics })
  const keys = makeApiKeyCache(db)
  accountEvents.onChanged(keys.forget)
  const { messagesMax, mediaBytesMax } = config.queue
  const { largestBytesMax } = config.media
  const onReadError = makeOutageLog(log, 'postgres').failed
  const eventFeed = makeEventFeed(readDb, eventHints)
  const mediaLinks = makeMediaLinks(readDb, config.http.publicUrl)
  const eventStreams = makeEventStreams(eventFeed, {
    getLinker: mediaLinks.getLinker,
    closing,
    heartbeatMs: streamHeartbeatMs,
    onError: onReadError,
  })
  let isKeyInUrlNoted = false
  addEventGauges(metrics, { streams: eventStreams, feed: eventFeed })
  return {
    config,
    log,
    metrics,
    db,
    readDb,
    history: makeHistory(readDb),
    eventFeed,
    eventStreams,
    events,
    publishEventHint: eventHints.publish,
    publishWebhookHint: (webhookId) => void webhookHints.add(webhookId),
    keys,
    noteKeyInUrl() {
      if (isKeyInUrlNoted) return
      isKeyInUrlNoted = true
      log.warn(
        'A request has its API key in the URL, where proxies log it. Callers should use the header x-api-key. ALLOW_QUERY_API_KEY=false refuses keys in URLs.',
      )
    },
    limits: makeLimits(rateLimits, config.limits),
    mailer,
    async accountChanged(accountId) {
      keys.forget(accountId)
      await accountEvents.publishChanged(accountId)
    },
    messageIntake: makeMessageIntake(db, {
      backlogs: makeBacklogs(db, messagesMax, onReadError),
      enqueueCommand: dispatcher.enqueue,
      publishEventHint: eventHints.publish,
      mediaBytesMax,
    }),
    outcomeWaits: makeOutcomeWaits(db, { events, closing }),
    largeBodies: makeLargeBodies(config.http.bodyMemoryBytes),
    mediaStore: openMediaStore(config.media.store),
    mediaLinks,
    mediaReads: makeFairSemaphore(mediaReads.process, { shareMax: mediaReads.account }),
    uploadBytes: makeFairSemaphore(uploadFiles.process * largestBytesMax, {
      shareMax: uploadFiles.account * largestBytesMax,
    }),
    exports: makeFairSemaphore(exportsMax.process, { shareMax: exportsMax.account }),
    readReadiness,
    enqueueCommand: dispatcher.enqueue,
    closing,
  }
}
