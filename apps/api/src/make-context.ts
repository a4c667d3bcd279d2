import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Config } from './config.ts'
import type { Connections } from './connections.ts'
import type { ApiContext } from './context.ts'
import { makeApiKeyCache } from './credentials/api-key-cache.ts'
import type { CommandDispatcher } from './devices/command-dispatcher.ts'
import { makeEventFeed } from './events/event-feed.ts'
import { makeLargeBodies } from './http/large-bodies.ts'
import { makeLimits } from './limits/limits.ts'
import { makeBacklogs } from './messages/backlogs.ts'
import { makeHistory } from './messages/history.ts'
import { makeMessageIntake } from './messages/message-intake.ts'
import { makeOutcomeWaits } from './messages/outcome-waits.ts'
import { addReadinessGauges, makeMetrics } from './metrics.ts'
import { makeReadinessCheck } from './readiness.ts'
import { makeMediaLinks } from './received-media/media-links.ts'

type Parts = {
  log: Logger
  connections: Connections
  dispatcher: CommandDispatcher
  closing: AbortSignal
}

const mediaReads = { process: 256, account: 16 }

export function makeContext(config: Config, { log, connections, dispatcher, closing }: Parts): ApiContext {
  const { db, readDb, events, accountEvents, rateLimits } = connections
  const metrics = makeMetrics()
  const readReadiness = makeReadinessCheck({ db, events }, config.installation)
  addReadinessGauges(metrics, readReadiness)
  const keys = makeApiKeyCache(db)
  accountEvents.onChanged(keys.forget)
  const { messagesMax, mediaBytesMax } = config.queue
  const onCountError = makeOutageLog(log, 'postgres').failed
  return {
    config,
    log,
    metrics,
    db,
    readDb,
    history: makeHistory(readDb),
    eventFeed: makeEventFeed(readDb),
    events,
    keys,
    limits: makeLimits(rateLimits, config.limits),
    async accountChanged(accountId) {
      keys.forget(accountId)
      await accountEvents.publishChanged(accountId)
    },
    messageIntake: makeMessageIntake(db, {
      backlogs: makeBacklogs(db, messagesMax, onCountError),
      enqueueCommand: dispatcher.enqueue,
      mediaBytesMax,
    }),
    outcomeWaits: makeOutcomeWaits(db),
    largeBodies: makeLargeBodies(config.http.bodyMemoryBytes),
    mediaStore: openMediaStore(config.media.store),
    mediaLinks: makeMediaLinks(readDb, config.http.publicUrl),
    mediaReads: makeFairSemaphore(mediaReads.process, { shareMax: mediaReads.account }),
    readReadiness,
    enqueueCommand: dispatcher.enqueue,
    closing,
  }
}
