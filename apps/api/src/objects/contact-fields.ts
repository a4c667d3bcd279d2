import { z } from 'zod'

/** How an answer names a contact. What is not known is left out, except the number. */
export const contactFields = {
  number: z.string().nullable().describe('Phone number in digits. Null when WhatsApp does not tell it'),
  lid: z.string().optional().describe('LID in digits, if it is known'),
  username: z.string().optional().describe('User name at WhatsApp, if it is known'),
}

type Known = { number: string | null; lid: string | null; username: string | null }

export function toContactFields({ number, lid, username }: Known) {
  return { number, ...(lid !== null && { lid }), ...(username !== null && { username }) }
}
