import type { MessageOutcome, OutcomeResult } from '@wagate/db/queries/messages/message-outcomes'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { NaturalBatch } from '@wagate/runtime/natural-batch'
import { messageIdOf } from '@wagate/shared/ids'
import type { Lease } from '../../ownership/lease.ts'
import type { Persist } from '../credentials/persistence.ts'
import type { Receipt } from './receipts.ts'

type Context = {
  outcomes: Pick<NaturalBatch<MessageOutcome, OutcomeResult>, 'addDeferred'>
  publishEventHint(accountId: number): void
}

type Device = {
  id: number
  accountId: number
  sender: string
  lease: Lease
  /** Of the latest messages, by WhatsApp id. */
  sentRecipients: { find(waId: string): string | undefined }
}

/** Resolves when the receipt is stored. Throws OwnershipLost. Ids of messages that this device did not send are ignored. */
export async function storeReceipt(
  { outcomes, publishEventHint }: Context,
  { id: deviceId, accountId, sender, lease, sentRecipients }: Device,
  { kind, waIds, at, saidBy }: Receipt,
  persist: Persist,
): Promise<void> {
  const outcome = { fence: lease, deviceId, status: kind, at: at.toISOString(), saidBy }
  const rows = waIds.flatMap((waId): MessageOutcome[] => {
    const messageId = messageIdOf(waId, sender)
    return messageId ? [{ ...outcome, messageId, recipientJid: sentRecipients.find(waId) ?? null }] : []
  })
  const results = await Promise.all(rows.map((row) => persist(() => outcomes.addDeferred(row))))
  const lost = results.find((result) => result instanceof OwnershipLost)
  if (lost) throw lost
  if (rows.length > 0) publishEventHint(accountId)
}
