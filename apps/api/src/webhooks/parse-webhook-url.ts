import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { invalidParameter } from '../errors/invalid-parameter.ts'

const charactersMax = 2048

type AllowedUrls = { allowsPrivateHosts: boolean; allowsHttp: boolean }

/** Checks it without resolving its host: each delivery checks the address. Throws `invalid_parameter`. */
export function parseWebhookUrl(text: string, allowed: AllowedUrls): string {
  const url = text.length <= charactersMax && URL.canParse(text) ? new URL(text) : undefined
  const message = url ? refusalOf(url, allowed) : `must be a URL of up to ${charactersMax} characters`
  if (url && !message) return url.href
  throw invalidParameter('url', String(message))
}

/** Texts of messages must not cross the internet in plain form. */
export const isPlain = (url: string) => url.startsWith('http:')

function refusalOf(
  { protocol, username, password, hostname }: URL,
  { allowsPrivateHosts, allowsHttp }: AllowedUrls,
) {
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:'))
    return allowsHttp ? 'must begin with https:// or http://' : 'must begin with https://'
  if (username || password) return 'must not contain a user name or password'
  if (!allowsPrivateHosts && isForbiddenHost(hostname)) return 'must not point to a private address'
  return undefined
}
