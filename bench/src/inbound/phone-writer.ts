import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { Phones } from '@wagate/test-kit/load/phones'

export type Written = {
  waId: string
  sender: string
  contact: string
  text: string
  /** When the phone was told to write it, in Unix time. */
  askedAtMs: number
}

export const contactsPerSender = 2

const atOnceMax = 100

/** Contacts write to the senders in turn. */
export type PhoneWriter = {
  written: Written[]
  /** At most a hundred. Call it again when they are written, because the order of two calls at the same time is not known. */
  write(count: number): Promise<void>
}

export function makePhoneWriter(phones: Phones, senders: string[], name: string): PhoneWriter {
  const written: Written[] = []
  return {
    written,
    async write(count) {
      const askedAtMs = Date.now()
      const messages = Array.from({ length: Math.min(count, atOnceMax) }, (_, place) => {
        const index = written.length + place
        const sender = senders[index % senders.length] ?? ''
        const round = Math.floor(index / senders.length)
        return {
          sender,
          contact: recipientOf(sender, round % contactsPerSender),
          text: `${name} ${index}`,
          askedAtMs,
        }
      })
      const ids = await phones.writeMany(
        messages.map(({ sender, contact, text }) => ({ from: contact, to: sender, text })),
      )
      written.push(...messages.map((message, index) => ({ ...message, waId: ids[index] ?? '' })))
    },
  }
}
