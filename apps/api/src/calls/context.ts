import type { Database } from '@wagate/db/client'
import type { MediaStore } from '@wagate/media-store/media-store'
import type { DeviceEvents } from '@wagate/queue/device-events'
import type { EventHints } from '@wagate/queue/event-hints'
import type { FairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import type { Config } from '../config.ts'
import type { ApiKeyCache } from '../credentials/api-key-cache.ts'
import type { CommandDispatcher } from '../devices/command-dispatcher.ts'
import type { EventStreams } from '../event-streams/event-streams.ts'
import type { EventFeed } from '../events/event-feed.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { History } from '../messages/history.ts'
import type { MessageIntake } from '../messages/message-intake.ts'
import type { OutcomeWaits } from '../messages/outcome-waits.ts'
import type { MediaLinks } from '../received-media/media-links.ts'

/** What the operations work with. Other rooms declare the part of it that they use. */
export type ApiContext = {
  config: Config
  log: Logger
  db: Database
  /** The same database with its own pool, so that reads never take a connection from sends. */
  readDb: Database
  keys: ApiKeyCache
  /** Undefined without SMTP_URL. */
  mailer: Mailer | undefined
  notify: Notify
  events: {
    feed: EventFeed
    streams: EventStreams
    /** What workers announce about their devices. */
    devices: DeviceEvents
  }
  messages: {
    history: History
    intake: MessageIntake
    outcomeWaits: OutcomeWaits
  }
  media: {
    store: MediaStore
    links: MediaLinks
    /** Downloads of received files in progress, by account. */
    reads: FairSemaphore
    /** Bytes of uploads in the staging folder, by account. */
    uploadBytes: FairSemaphore
  }
  /** Exports in progress, by account. */
  exports: FairSemaphore
  /** Aborted when the process stops, which ends all waits for events. */
  closing: AbortSignal
}

/** Tells other processes of a change, once it is stored. They find what gets lost in Postgres, only later. */
type Notify = {
  /** Notifies the device's owner. Never fails. */
  enqueueCommand: CommandDispatcher['enqueue']
  /** Wakes the readers of an account's events. */
  publishEventHint: EventHints['publish']
  /** Wakes a dispatcher after a change of a webhook. In the background. */
  publishWebhookHint(webhookId: number): void
  /** To be called after every change of an account or of its keys, so that all processes forget what they cached. */
  accountChanged(accountId: number): Promise<void>
}
