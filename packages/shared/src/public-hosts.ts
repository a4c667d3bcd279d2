import { BlockList, isIP } from 'node:net'

/**
 * Addresses that no media is fetched from: all that IANA's registries of special-purpose addresses do not call
 * globally reachable, and those that answer to a cloud's own machines only.
 * https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry
 */
const forbiddenRanges = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, and Alibaba's metadata
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's metadata, public by its number
  '169.254.0.0/16', // link-local, and everybody else's metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  // Only 2000::/3 is public. What precedes it holds ::, ::1, and IPv4 addresses as ::a.b.c.d, ::ffff:a.b.c.d,
  // ::ffff:0:a.b.c.d and 64:ff9b::a.b.c.d (NAT64); what follows it unique local, link-local and multicast ones.
  '::/3',
  '2001::/23', // Teredo, with an IPv4 address inside
  '2001:db8::/32',
  '2002::/16', // 6to4, with an IPv4 address inside
  '2620:4f:8000::/48',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
]

type Family = 'ipv4' | 'ipv6'

/** A list for each: in one, an IPv4 address would fall under the IPv6 range of its mapped form. */
const forbidden: Record<Family, BlockList> = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const range of forbiddenRanges) {
  const [address = '', bits] = range.split('/')
  const family = familyOf(address) ?? 'ipv4'
  forbidden[family].addSubnet(address, Number(bits), family)
}

/** True for anything that is no IP address. */
export function isForbiddenAddress(address: string): boolean {
  const family = familyOf(address)
  return family === undefined || forbidden[family].check(address, family)
}

function familyOf(address: string): Family | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  return version === 4 ? 'ipv4' : 'ipv6'
}

/**
 * Whether the host of a parsed URL is forbidden without resolving it: an address written as such
 * (URL has turned the decimal, octal, hexadecimal and short forms into one), or a name of this machine.
 */
export function isForbiddenHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? isForbiddenAddress(host) : /(^|\.)localhost\.?$/.test(host)
}
