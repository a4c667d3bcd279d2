import type { Consent } from '@wagate/db/queries/contacts/consent-steps'
import type { Received } from './received.ts'

/** In lower case. */
export type ConsentWords = { optOut: readonly string[]; optIn: readonly string[] }

/** What the whole text of a message asks for, if it is one of the words. */
export function askedConsent(received: Received, words: ConsentWords): Consent | null {
  if ('kind' in received || received.type !== 'text' || received.body === null) return null
  const text = received.body.trim().toLowerCase()
  if (words.optOut.includes(text)) return 'opt-out'
  return words.optIn.includes(text) ? 'opt-in' : null
}
