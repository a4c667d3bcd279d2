import { lookup as systemLookup } from 'node:dns'
import type { Agent } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { HttpRequest } from '@wagate/runtime/http-client'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { makePublicLookup } from './public-lookup.ts'

type Given = {
  /** Of the proxy of a sender, which then resolves the names. */
  agent?: Agent | undefined
  /** host:port of the simulated network, which answers in plain HTTP for all of WhatsApp's hosts. */
  simulatedHost?: string | undefined
  /** Of WhatsApp's hosts. The system resolver by default. */
  lookup?: LookupFunction
}

/** Other devices of the account choose the path that is appended to WhatsApp's host: `:9443/x`, `.example.com/x`. */
export function isWhatsAppUrl(url: URL): boolean {
  const isPlain = url.port === '' && url.username === '' && url.password === ''
  return url.protocol === 'https:' && isPlain && url.hostname.endsWith('.whatsapp.net')
}

/** How one sender reaches the hosts of WhatsApp that take and give files, and nothing else. */
export class WhatsAppRoute {
  // Private, because the agent leads to the password of a proxy.
  readonly #given: Given

  constructor(given: Given) {
    this.#given = given
  }

  /** What to ask for a URL, redirects of it included. Throws if it may not be asked, before a connection is opened. */
  to(url: URL, isAllowed = isWhatsAppUrl): Pick<HttpRequest, 'url' | 'agent' | 'lookup' | 'admit'> {
    const { agent, simulatedHost, lookup = systemLookup } = this.#given
    const connection = {
      ...(agent && { agent }),
      ...(!simulatedHost && !agent && { lookup: () => makePublicLookup(isForbiddenAddress, lookup) }),
    }
    if (!simulatedHost) {
      admitIf(isAllowed(url))
      return { url, ...connection, admit: (target) => admitIf(isAllowed(target)) }
    }
    admitIf(isAllowed(url) || url.host === simulatedHost)
    return {
      url: new URL(url.pathname + url.search, `http://${simulatedHost}`),
      ...connection,
      admit: ({ host }) => admitIf(host === simulatedHost),
    }
  }
}

function admitIf(isAdmitted: boolean): void {
  if (!isAdmitted) throw new TypeError('Refused to ask a host that is not one of WhatsApp')
}
