import type { Database } from '@wagate/db/client'
import type { MessageOutcome, OutcomeResult } from '@wagate/db/queries/messages/message-outcomes'
import type { SetbackNote } from '@wagate/db/queries/messages/message-setbacks'
import type { DeviceEvents } from '@wagate/queue/device-events'
import type { Logger } from '@wagate/runtime/logger'
import type { NaturalBatch } from '@wagate/runtime/natural-batch'
import { makeRecentMap } from '../caches/recent-map.ts'
import type { Config } from '../config/config.ts'
import type { InspectedSource } from '../media/load-media.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Lease } from '../ownership/lease.ts'
import type { DeviceContacts } from '../session/contacts/device-contacts.ts'
import type { Vault } from '../session/credentials/vault.ts'
import type { OutcomeFeed } from '../session/sending/outcomes.ts'
import type { ContactBudget } from './contact-budget.ts'
import type { FirstContacts } from './first-contacts.ts'
import type { MessageClaims } from './message-claims.ts'
import type { NumberResolver } from './number-resolver.ts'
import type { Pacer, RecipientPace } from './pacer.ts'
import type { Retries } from './retries.ts'
import type { SendPause } from './send-pause.ts'
import type { NextReads, PriorityUse } from './waiting-queue.ts'

/** What an outbox needs of its worker. */
export type OutboxContext = {
  config: Config
  logger: Logger
  metrics: Metrics
  db: Database
  events: DeviceEvents
  publishEventHint(accountId: number): void
  statements: {
    nextReads: NextReads
    messageClaims: MessageClaims
    setbacks: Pick<NaturalBatch<SetbackNote, undefined>, 'add'>
    outcomes: Pick<NaturalBatch<MessageOutcome, OutcomeResult>, 'add' | 'addDeferred'>
  }
  media: InspectedSource['media']
}

/** What an outbox needs of its device. All of it outlives a connection. */
export type OutboxDevice = SendingMemory & {
  id: number
  accountId: number
  lease: Lease
  vault: Vault
  pace: DevicePace
}

/** What a device remembers of what it sends. */
export type SendingMemory = {
  outcomes: OutcomeFeed
  resolver: NumberResolver
  retries: Retries
  sentRecipients: SentRecipients
  firstContacts: FirstContacts
  contacts: DeviceContacts
}

export type DevicePace = {
  pause: SendPause
  priorityUse: PriorityUse
  pacer: Pacer
  recipientPace: RecipientPace
  contactBudget: ContactBudget
  /** Since when this owner sends for it, by the clock of Postgres. Messages accepted before may have had another owner. */
  sendsSinceMs: number
}

/** The recipients of a device's latest messages, by WhatsApp id. */
export type SentRecipients = {
  note(waId: string, recipientJid: string): void
  find(waId: string): string | undefined
}

/** More than a device sends in the second that a crash of Postgres may undo. */
const messagesMax = 200

/**
 * The claim of a message stores its recipient too, but a crash of Postgres may undo claims. Without this memory, receipts
 * for such messages would look like receipts from strangers.
 */
export function makeSentRecipients(): SentRecipients {
  const recipients = makeRecentMap<string, string>(messagesMax)
  return {
    note: recipients.set,
    find: recipients.get,
  }
}
