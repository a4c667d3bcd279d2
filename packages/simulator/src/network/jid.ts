import { jidDecode } from 'baileys'

const lidBase = 10n ** 15n
// Coprime to 10, so that multiplying permutes the numbers of up to 15 digits and can be undone.
const scramble = 387_420_489_123_457n
const unscramble = inverse(scramble, lidBase)

export const serverJid = '@s.whatsapp.net'
/** Where the statuses of all contacts come from. */
export const statusJid = 'status@broadcast'

/** The phone number behind a PN or LID, and the device (0 is the phone itself); undefined for groups and other JIDs. */
export function parseJid(jid: string | undefined): { number: string; device: number } | undefined {
  const decoded = jidDecode(jid)
  if (!decoded) return undefined
  const device = decoded.device ?? 0
  if (decoded.server === 's.whatsapp.net' || decoded.server === 'c.us') {
    return isNumber(decoded.user) ? { number: decoded.user, device } : undefined
  }
  if (decoded.server !== 'lid') return undefined
  const number = numberOfLid(decoded.user)
  return number === undefined ? undefined : { number, device }
}

export function pnJid(number: string, device = 0): string {
  return `${number}${device === 0 ? '' : `:${device}`}@s.whatsapp.net`
}

export function lidJid(number: string, device = 0): string {
  return `${lidOf(number)}${device === 0 ? '' : `:${device}`}@lid`
}

export const isLid = (jid: string): boolean => jid.endsWith('@lid')

/** The same JID without its device. */
export function userJid(jid: string): string {
  const decoded = jidDecode(jid)
  return decoded ? `${decoded.user}@${decoded.server}` : jid
}

/** LIDs are computed from the number, so they need no storage and can be resolved after a restart. */
function lidOf(number: string): string {
  return (lidBase + ((BigInt(number) * scramble) % lidBase)).toString()
}

function numberOfLid(lid: string): string | undefined {
  if (!/^\d{16}$/.test(lid)) return undefined
  const value = BigInt(lid) - lidBase
  if (value < 0n || value >= lidBase) return undefined
  const number = ((value * unscramble) % lidBase).toString()
  return isNumber(number) ? number : undefined
}

/** The form without the digit that Brazil, Mexico and Argentina once added to mobile numbers: many accounts have it. */
export function withoutMobileDigit(number: string): string {
  return number.replace(/^(55\d\d)9(?=\d{8}$)|^(52)1(?=\d{10}$)|^(54)9(?=\d{10}$)/, '$1$2$3')
}

export function isNumber(text: string): boolean {
  return /^[1-9]\d{4,14}$/.test(text)
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [oldRest, rest] = [value, modulus]
  let [oldFactor, factor] = [1n, 0n]
  while (rest !== 0n) {
    const quotient = oldRest / rest
    ;[oldRest, rest] = [rest, oldRest - quotient * rest]
    ;[oldFactor, factor] = [factor, oldFactor - quotient * factor]
  }
  return ((oldFactor % modulus) + modulus) % modulus
}
