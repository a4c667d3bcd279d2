import { isSameSubscriber } from '@wagate/shared/phone'
import { jidDecode, jidNormalizedUser, type WASocket } from 'baileys'
import type { LookUp } from './recipients.ts'

/** Asks WhatsApp which numbers have an account. Throws when it does not answer. */
export function makeLookUp(sock: WASocket): LookUp {
  return async (numbers) => {
    const results = await sock.onWhatsApp(...numbers.map((number) => `${number}@s.whatsapp.net`))
    if (!results) throw new Error('WhatsApp did not say whether the recipients exist')
    const existing = results.filter(({ exists }) => exists).map(({ jid }) => jidNormalizedUser(jid))
    return new Map(numbers.flatMap((number) => matchOf(number, numbers, existing)))
  }
}

/** WhatsApp may answer with another form of the number it was asked for (Brazil, Mexico, Argentina). */
function matchOf(number: string, asked: string[], existing: string[]): [string, string][] {
  const exact = existing.find((jid) => userOf(jid) === number)
  if (exact) return [[number, exact]]
  if (asked.length === 1 && existing[0]) return [[number, existing[0]]]
  const variant = existing.find((jid) => isSameSubscriber(number, userOf(jid)))
  return variant ? [[number, variant]] : []
}

export function userOf(jid: string): string {
  return jidDecode(jid)?.user ?? ''
}
