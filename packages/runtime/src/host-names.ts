import type { LookupAddress, LookupOptions } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startDeadline } from './deadline.ts'
import { makeFairSemaphore } from './fair-semaphore.ts'
import { readHosts, readSearchDomains } from './system-names.ts'

/** Makes a `lookup` for the connections of one request. It ends with the signal. */
export type MakeLookup = (signal: AbortSignal) => LookupFunction

/**
 * Resolves host names that callers chose, whose name servers may be silent. Unlike `dns.lookup`, it neither occupies threads
 * that the process needs for other names and for files, nor continues when its request has ended. Errors have the codes of
 * `dns.lookup`: ENOTFOUND for a name without an address, EAI_AGAIN when name servers gave no answer.
 */
export type HostNames = {
  /** An owner, such as an account, has a share of the look-ups at a time. */
  ofOwner(owner: string): MakeLookup
}

export type HostNamesOptions = {
  /** IP addresses, with or without a port. Those of /etc/resolv.conf by default. */
  servers?: readonly string[] | undefined
  lookupsMax?: number
  lookupsOfOwnerMax?: number
  /** Of one look-up, once it has a place. */
  deadlineMs?: number
}

type Family = 4 | 6
type Ask = (name: string) => Promise<LookupAddress[]>

/** Of one server, doubled with each try. */
const tryMs = 1500
const tries = 2
/** Some name servers ignore requests for IPv6 addresses. */
const ipv6GraceMs = 250
/** Of each family. A connection tries one after the other. */
const addressesMax = 8
/** What c-ares answers when there is no such name, no address of it, or no way to write it in a request. */
const missingCodes = ['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME']

export function makeHostNames({
  servers,
  lookupsMax = 512,
  lookupsOfOwnerMax = 32,
  deadlineMs = 5000,
}: HostNamesOptions = {}): HostNames {
  const places = makeFairSemaphore(lookupsMax, { shareMax: lookupsOfOwnerMax })
  // The search domains are meant for the servers beside them.
  const searchDomains = () => (servers ? [] : readSearchDomains())

  async function resolve(name: string, families: Family[], owner: string, signal: AbortSignal) {
    const written = readHosts(name).filter(({ family }) => families.includes(family))
    if (written.length > 0) return written
    const release = await places.acquire(owner, 1, signal)
    // One for each look-up, because it can only cancel everything.
    const resolver = new Resolver({ timeout: tryMs, tries })
    const deadline = startDeadline(deadlineMs, signal)
    const isOver = () => deadline.signal.aborted
    deadline.signal.addEventListener('abort', () => resolver.cancel())
    try {
      if (servers) resolver.setServers(servers)
      return await searchFor(name, searchDomains(), (full) => askFor(resolver, full, families), isOver)
    } finally {
      deadline.release()
      resolver.cancel()
      release()
    }
  }

  return {
    ofOwner: (owner) => (signal) => (hostname, options, callback) => {
      resolve(hostname, familiesOf(options), owner, signal).then(
        (found) => {
          if (options.all) callback(null, found)
          else callback(null, found[0]?.address ?? '', found[0]?.family)
        },
        (error: unknown) => callback(failureOf(hostname, error), options.all ? [] : ''),
      )
    },
  }
}

function familiesOf({ family }: LookupOptions): Family[] {
  if (family === 4 || family === 'IPv4') return [4]
  return family === 6 || family === 'IPv6' ? [6] : [4, 6]
}

/** As it is, then in each domain. Kubernetes and Docker give names that are complete only with one. */
async function searchFor(
  name: string,
  domains: readonly string[],
  ask: Ask,
  isOver: () => boolean,
): Promise<LookupAddress[]> {
  const names = name.endsWith('.') ? [name] : [name, ...domains.map((domain) => `${name}.${domain}`)]
  for (const [index, full] of names.entries()) {
    try {
      return await ask(full)
    } catch (error) {
      if (!isMissing(error) || index === names.length - 1 || isOver()) throw error
    }
  }
  throw new Error('Unreachable: the last name is either found or not')
}

/**
 * IPv4 comes first: where a machine has no way to addresses of one family, the connection fails at once and the next is tried,
 * and where it has both, IPv4 is the one that works more often.
 */
async function askFor(resolver: Resolver, name: string, families: Family[]): Promise<LookupAddress[]> {
  const [four, six] = ([4, 6] as const).map((family) =>
    families.includes(family) ? addressesOf(resolver, name, family) : Promise.resolve({ found: [] }),
  ) as [Promise<Answer>, Promise<Answer>]
  const first = await four
  const second: Answer = await (first.found.length > 0
    ? Promise.race([six, delay(ipv6GraceMs, { found: [] })])
    : six)
  const found = [...first.found, ...second.found]
  if (found.length > 0) return found
  const errors = [first, second].flatMap(({ error }) => error ?? [])
  throw errors.find((error) => !isMissing(error)) ?? errors[0]
}

type Answer = { found: LookupAddress[]; error?: unknown }

async function addressesOf(resolver: Resolver, name: string, family: Family): Promise<Answer> {
  try {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name))
    return { found: addresses.slice(0, addressesMax).map((address) => ({ address, family })) }
  } catch (error) {
    return { found: [], error }
  }
}

const isMissing = (error: unknown) => missingCodes.includes(String((error as { code?: unknown })?.code))

function failureOf(hostname: string, cause: unknown): NodeJS.ErrnoException {
  const code = isMissing(cause) ? 'ENOTFOUND' : 'EAI_AGAIN'
  return Object.assign(new Error('The host name could not be resolved', { cause }), { code, hostname })
}
