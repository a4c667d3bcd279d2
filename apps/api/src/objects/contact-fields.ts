import { z } from 'zod'

/** How answers name a contact. */
export const contactFields = {
  number: z.string().nullable().describe('Phone number in digits. Null when WhatsApp does not tell it'),
  lid: z.string().nullable().describe('LID in digits. Null when it is not known'),
  username: z.string().nullable().describe('User name at WhatsApp. Null when it is not known'),
}
