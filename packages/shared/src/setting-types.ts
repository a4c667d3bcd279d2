import { isIP, isIPv4, isIPv6 } from 'node:net'
import { z } from 'zod'
import { bareWord } from './bare-word.ts'

export const wholeNumber = (minimum: number, maximum: number) =>
  z.coerce
    .number({ error: 'must be a number' })
    .int('must be a whole number')
    .min(minimum, `must be at least ${minimum}`)
    .max(maximum, `must be at most ${maximum}`)

export const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true')

export const url = (...schemes: string[]) =>
  z
    .string({ error: 'is required' })
    .refine(
      (value) => URL.canParse(value) && schemes.includes(new URL(value).protocol),
      `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    )

/** Without a path: the link page is served at the root. */
export const origin = url('http:', 'https:')
  .refine((value) => /^https?:\/\/[^/?#@]+\/?$/i.test(value), 'must have no path, query or user name')
  .transform((value) => new URL(value).origin)

export const key32 = z
  .string({ error: 'is required' })
  .refine(isKey32, 'must be 32 bytes in base64 (openssl rand -base64 32)')
  .transform((value) => Buffer.from(value, 'base64'))

/** Node also decodes text that is not base64. */
function isKey32(value: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(value) && Buffer.from(value, 'base64').toString('base64') === value
}

/** False for zeros, a repeated pattern and typed text. 32 random bytes hold about 30 different ones, never only letters. */
function isRandom(key: Buffer): boolean {
  return new Set(key).size > 16 && !key.every((byte) => byte >= 0x20 && byte < 0x7f)
}
export const randomKey32 = key32.refine(isRandom, 'must be random (openssl rand -base64 32)')

/** The number of proxies in front of the API. `true` is one. */
export const proxies = z
  .string()
  .regex(/^(true|false|[0-9])$/, 'must be true, false or the number of proxies')
  .transform((value) => (value === 'true' ? 1 : value === 'false' ? 0 : Number(value)))

export const keys32 = z
  .string()
  .transform((value) => value.split(','))
  .refine((keys) => keys.every(isKey32), 'must be keys of 32 bytes in base64, with commas between')
  .transform((keys) => keys.map((key) => Buffer.from(key, 'base64')))

export const words = z
  .string()
  .refine(
    (value) => value.split(',').every((word) => word.trim().length <= 100),
    'must be words of at most 100 characters',
  )
  .transform((value) => value.split(',').flatMap((word) => bareWord(word) || []))

/** IP addresses with or without a port: `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:5353`. */
export const nameServers = z
  .string()
  .transform((value) => value.split(',').map((server) => server.trim()))
  .refine(
    (list) => list.every(isNameServer),
    'must be IP addresses, each with or without a port, with commas between',
  )

function isNameServer(text: string): boolean {
  if (isIP(text)) return true
  const [, host = '', port] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  const isAddress = isIPv4(host) || (/^\[.+\]$/.test(host) && isIPv6(host.slice(1, -1)))
  return isAddress && Number(port) > 0 && Number(port) < 65_536
}

/** With or without a name before it. */
export const mailAddress = z
  .string()
  .refine(
    (value) => z.email().safeParse(/^[^<>"\r\n]*<([^<>]+)>$/.exec(value)?.[1] ?? value).success,
    'must be an email address, or a name and an address in angle brackets',
  )
