import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { AppError } from '../errors/app-error.ts'

const charactersMax = 2048

/** Checks it without resolving its host: each delivery checks the address. Throws `invalid_parameter`. */
export function parseWebhookUrl(
  text: string,
  { allowsPrivateHosts }: { allowsPrivateHosts: boolean },
): string {
  const url = text.length <= charactersMax && URL.canParse(text) ? new URL(text) : undefined
  const message = url
    ? refusalOf(url, allowsPrivateHosts)
    : `must be a URL of up to ${charactersMax} characters`
  if (url && !message) return url.href
  throw new AppError('invalid_parameter', `url ${message}`, {
    details: [{ parameter: 'url', message: String(message) }],
  })
}

function refusalOf({ protocol, username, password, hostname }: URL, allowsPrivateHosts: boolean) {
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https:// or http://'
  if (username || password) return 'must not contain a user name or password'
  if (!allowsPrivateHosts && isForbiddenHost(hostname)) return 'must not point to a private address'
  return undefined
}
