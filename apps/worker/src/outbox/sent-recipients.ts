import { makeRecentMap } from '../recent-map.ts'

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
