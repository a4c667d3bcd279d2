/*
 * The key of a contact: its number in digits, or its LID with `@lid` as long as its number is not known. Messages, opt-outs
 * and counted contacts are stored under it, and those of a LID move to the number when it is learnt.
 */

const lidEnd = '@lid'

/** Digits of a LID as a key, which is also its address at WhatsApp. */
export const lidKey = (lid: string): string => `${lid}${lidEnd}`

/** The address of a number at WhatsApp. */
export const phoneJid = (number: string): string => `${number}@s.whatsapp.net`

/** Null for a contact whose number is not known. */
export function numberOf(key: string): string | null {
  return key === '' || key.includes('@') ? null : key
}

/** The digits of a LID. Null for a number and for other addresses. */
export function lidOf(key: string | null | undefined): string | null {
  return key?.endsWith(lidEnd) ? key.slice(0, -lidEnd.length) : null
}
