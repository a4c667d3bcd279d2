import type { LookupAddress } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

const readAgainMs = 5000
const searchDomainsMax = 6

type Found = LookupAddress & { family: 4 | 6 }

/** The addresses that /etc/hosts has for a name, such as Docker's `extra_hosts`, and those of `localhost`. */
export const readHosts = cached('/etc/hosts', parseHosts, (hosts, name: string): Found[] => {
  const key = name.toLowerCase().replace(/\.$/, '')
  const written = hosts.get(key) ?? []
  return written.length > 0 || !/(^|\.)localhost$/.test(key) ? written : loopback
})

/** Domains in which names are complete, from /etc/resolv.conf. */
export const readSearchDomains = cached('/etc/resolv.conf', parseSearchDomains, (domains) => domains)

/** RFC 6761, 6.3: no name server is asked for them. */
const loopback: Found[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

export function parseHosts(text: string): Map<string, Found[]> {
  const hosts = new Map<string, Found[]>()
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address)
    if (family !== 4 && family !== 6) continue
    for (const name of names) {
      const key = name.toLowerCase()
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }])
    }
  }
  return hosts
}

/** The last `search` or `domain` counts (resolv.conf(5)). */
export function parseSearchDomains(text: string): string[] {
  const lists = linesOf(text).filter(([keyword]) => keyword === 'search' || keyword === 'domain')
  const domains = lists.at(-1)?.slice(1) ?? []
  return domains.flatMap((domain) => domain.replace(/\.$/, '') || []).slice(0, searchDomainsMax)
}

function linesOf(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
}

/** What a small file says, read again after a while. A file that cannot be read is an empty one. */
function cached<Content, Given extends unknown[], Result>(
  path: string,
  parse: (text: string) => Content,
  find: (content: Content, ...given: Given) => Result,
): (...given: Given) => Result {
  let content: { parsed: Content; readAtMs: number } | undefined
  return (...given) => {
    const nowMs = performance.now()
    if (!content || nowMs - content.readAtMs > readAgainMs)
      content = { parsed: parse(readText(path)), readAtMs: nowMs }
    return find(content.parsed, ...given)
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
