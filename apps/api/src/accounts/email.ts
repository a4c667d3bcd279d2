import { hash } from 'node:crypto'
import { z } from 'zod'

/** Trimmed and lower-case. Without control characters or line ends, so that it cannot add headers to a mail. */
export const email = z
  .string({ error: 'must be an email address' })
  .refine((value) => value.length <= 1000, 'must have up to 254 characters')
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email('must be an email address').max(254, 'must have up to 254 characters'))

/** For the keys of limits, which Redis holds: not the address itself. */
export const emailKey = (address: string): string => hash('sha256', address).slice(0, 32)

/** The same for all addresses whose mails may reach one person: providers ignore what follows a +, and some also dots. */
export function mailboxKey(address: string): string {
  const at = address.lastIndexOf('@')
  const name = address.slice(0, at).replace(/\+.*/, '').replaceAll('.', '')
  return emailKey(name + address.slice(at))
}
