import type { Lease } from '../ownership/lease.ts'
import type { Vault } from '../session/credentials/vault.ts'
import type { OutcomeFeed } from '../session/sending/outcome-feed.ts'
import type { ContactBudget } from './contact-budget.ts'
import type { FirstContacts } from './first-contacts.ts'
import type { NumberResolver } from './number-resolver.ts'
import type { Pacer } from './pacer.ts'
import type { RecipientPace } from './recipient-pace.ts'
import type { Recorder } from './recorder.ts'
import type { Retries } from './retries.ts'
import type { SentRecipients } from './sent-recipients.ts'

/** What an outbox needs of its device. */
export type OutboxDevice = {
  id: number
  accountId: number
  lease: Lease
  /** Since when this owner sends for it, by the clock of Postgres. Messages accepted before may have had another owner. */
  sendsSinceMs: number
  vault: Vault
  pacer: Pacer
  recipientPace: RecipientPace
  contactBudget: ContactBudget
  resolver: NumberResolver
  retries: Retries
  sentRecipients: SentRecipients
  recorder: Recorder
  outcomes: Pick<OutcomeFeed, 'subscribe'>
  firstContacts: FirstContacts
}
