import { isIP } from 'node:net'
import { AppError } from '../errors/app-error.ts'

/**
 * Each proxy appends the address it sees to X-Forwarded-For: with `proxies` trusted proxies, the client is the n-th
 * entry from the right. Entries further left come from the client and cannot be trusted. With fewer entries than
 * proxies, it is the address of the connection.
 */
export function findClientAddress(
  connectedFrom: string | undefined,
  forwardedFor: string | undefined,
  proxies: number,
): string {
  const hops = (forwardedFor ?? '').split(',')
  const forwarded = proxies > 0 ? parseAddress(hops.at(-proxies) ?? '') : undefined
  return forwarded ?? parseAddress(connectedFrom ?? '') ?? 'unknown'
}

/** The network that counts as one client. An IPv6 client controls its whole /64. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => '0')
  const groups = [...front, ...zeros, ...back].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** Accepts a port, which some proxies add, and maps IPv4 addresses in IPv6 form to IPv4. */
function parseAddress(text: string): string | undefined {
  const bare = text.trim().replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
  const address = bare.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) ? address : undefined
}

/** Each trusted proxy has set or passed on X-Forwarded-Proto and X-Forwarded-Host; without one, they come from the client. */
export function findOrigin({ url, headers }: Pick<Request, 'url' | 'headers'>, proxies: number): string {
  const { protocol, host } = new URL(url)
  const forwarded = (name: string) => (proxies > 0 ? headers.get(name)?.split(',').at(-1)?.trim() : undefined)
  const scheme = forwarded('x-forwarded-proto') ?? protocol.slice(0, -1)
  const origin = `${scheme}://${forwarded('x-forwarded-host') ?? host}`
  if (/^https?:\/\/[^/?#@\\\s]+$/i.test(origin) && URL.canParse(origin)) return new URL(origin).origin
  throw new AppError('invalid_parameter', 'The headers do not name the host of the gateway. Set PUBLIC_URL.')
}
