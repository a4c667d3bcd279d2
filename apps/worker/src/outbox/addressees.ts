import { LRUCache } from 'lru-cache'

/** To whom a device has sent its last messages, by their WhatsApp ids. */
export type Addressees = {
  note(waId: string, recipientJid: string): void
  find(waId: string): string | undefined
}

/** More than a device sends in the second that a crash of Postgres may undo. */
const messagesMax = 200

/**
 * The claim of a message says it too, but a crash of Postgres may undo claims: receipts of such messages would seem to
 * come from strangers.
 */
export function makeAddressees(): Addressees {
  const recipients = new LRUCache<string, string>({ max: messagesMax })
  return {
    note: (waId, recipientJid) => void recipients.set(waId, recipientJid),
    find: (waId) => recipients.get(waId),
  }
}
