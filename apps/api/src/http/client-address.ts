import { isIP } from 'node:net'

/**
 * Where a request comes from. Each proxy adds the address that it saw to the right end of X-Forwarded-For, so with
 * `proxies` of them in front the entry that the outermost has written is so many from the right. What stands further
 * left was sent by the client, which could write anything. Without enough entries it is the connection's.
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

/** What counts as one client. Who has one address of IPv6 has all of its /64. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => '0')
  const groups = [...front, ...zeros, ...back].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** With or without a port, as some proxies write it; an IPv4 address in IPv6 form is the IPv4 address. */
function parseAddress(text: string): string | undefined {
  const bare = text.trim().replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
  const address = bare.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) ? address : undefined
}
