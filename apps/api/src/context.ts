import type { Database } from '@wagate/db/client'
import type { MediaStore } from '@wagate/media-store/media-store'
import type { DeviceEvents } from '@wagate/queue/device-events'
import type { EventHints } from '@wagate/queue/event-hints'
import type { FairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import type { Config } from './config.ts'
import type { ApiKeyCache } from './credentials/api-key-cache.ts'
import type { CommandDispatcher } from './devices/command-dispatcher.ts'
import type { EventStreams } from './event-streams/event-streams.ts'
import type { EventFeed } from './events/event-feed.ts'
import type { LargeBodies } from './http/large-bodies.ts'
import type { Limits } from './limits/limits.ts'
import type { Mailer } from './mail/mailer.ts'
import type { History } from './messages/history.ts'
import type { MessageIntake } from './messages/message-intake.ts'
import type { OutcomeWaits } from './messages/outcome-waits.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import type { MediaLinks } from './received-media/media-links.ts'

/** What the operations work with. */
export type ApiContext = {
  config: Config
  log: Logger
  metrics: Metrics
  db: Database
  /** The same database with its own pool, so that reads never take a connection from sends. */
  readDb: Database
  history: History
  eventFeed: EventFeed
  eventStreams: EventStreams
  events: DeviceEvents
  /** Wakes the readers of an account's events. Call it once the events are stored. */
  publishEventHint: EventHints['publish']
  /** Wakes a dispatcher after a change of a webhook. In the background and best effort. */
  publishWebhookHint(webhookId: number): void
  keys: ApiKeyCache
  limits: Limits
  /** Undefined without SMTP_URL. */
  mailer: Mailer | undefined
  /** Warns the operator, the first time. */
  noteKeyInUrl(): void
  /** To be called after every change of an account or of its keys, so that all processes forget what they cached. */
  accountChanged(accountId: number): Promise<void>
  messageIntake: MessageIntake
  outcomeWaits: OutcomeWaits
  largeBodies: LargeBodies
  mediaStore: MediaStore
  mediaLinks: MediaLinks
  /** Downloads of received files in progress, by account. */
  mediaReads: FairSemaphore
  /** Bytes of uploads in the staging folder, by account. */
  uploadBytes: FairSemaphore
  /** Exports in progress, by account. */
  exports: FairSemaphore
  readReadiness(): Promise<Readiness>
  /** Notifies the device's owner. Never fails: the owner finds the same change in Postgres, only later. */
  enqueueCommand: CommandDispatcher['enqueue']
  /** Aborted when the process stops, which ends all waits for events. */
  closing: AbortSignal
}
