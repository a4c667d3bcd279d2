import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { HostNames, MakeLookup } from '@wagate/runtime/host-names'
import { makePublicLookup } from '../session/network/public-lookup.ts'

/** The target is an address that is not public. */
export class ForbiddenTarget extends Error {
  override readonly name = 'ForbiddenTarget'
}

/** Connections to targets, which stay open for the next requests. */
export type TargetGuard = {
  /** Throws ForbiddenTarget. */
  optionsFor(url: URL, accountId: number): { agent: http.Agent; lookup: MakeLookup }
  close(): void
}

/** Of one target. It gets no more requests than that at a time. */
const idleConnectionsMax = 4
const idleMs = 10_000

/** An address is checked when a connection is opened, so an open one has a permitted address. */
export function makeTargetGuard(
  isForbidden: (address: string) => boolean,
  hostNames: HostNames,
): TargetGuard {
  const agentOptions = { keepAlive: true, maxFreeSockets: idleConnectionsMax, timeout: idleMs }
  const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) }

  return {
    optionsFor({ protocol, hostname }, accountId) {
      const agent = protocol === 'http:' || protocol === 'https:' ? agents[protocol] : undefined
      // An address needs no DNS look-up. URL has normalised its decimal, octal and short forms.
      const host = hostname.replace(/^\[|\]$/g, '')
      if (!agent || (isIP(host) && isForbidden(host))) throw new ForbiddenTarget()
      const lookup = hostNames.ofOwner(String(accountId))
      return { agent, lookup: (signal) => makePublicLookup(isForbidden, lookup(signal)) }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
