import type { Database } from '@wagate/db/client'
import type { DeviceEvents } from '@wagate/queue/device-events'
import type { Logger } from '@wagate/runtime/logger'
import type { Config } from './config.ts'
import type { KeyRing } from './credentials/api-key-cache.ts'
import type { Commander } from './devices/command-dispatcher.ts'
import type { LargeBodies } from './http/large-bodies.ts'
import type { Limits } from './limits/limits.ts'
import type { History } from './messages/history.ts'
import type { Inbox } from './messages/message-intake.ts'
import type { OutcomeWaits } from './messages/outcome-waits.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'

/** What the operations work with. */
export type ApiContext = {
  config: Config
  log: Logger
  metrics: Metrics
  db: Database
  /** The same database over connections of their own: whatever is read, those of `db` are free for sends. */
  readDb: Database
  history: History
  events: DeviceEvents
  keys: KeyRing
  limits: Limits
  /** To be called after every change of an account or of its keys: all processes forget what they know of it. */
  accountChanged(accountId: number): Promise<void>
  inbox: Inbox
  outcomeWaits: OutcomeWaits
  largeBodies: LargeBodies
  readReadiness(): Promise<Readiness>
  /** Tells the device's owner. Never fails: the database says the same, only later. */
  command: Commander['place']
  /** Aborted when the process stops: whoever waits for an event gives up. */
  closing: AbortSignal
}
