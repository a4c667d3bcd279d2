import { lookup as systemLookup } from 'node:dns'
import type { Agent, IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { ask } from '@wagate/runtime/http-client'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { makePublicLookup } from '../media/public-lookup.ts'

/** Downloads for one sender. */
export type WhatsAppFetch = (url: URL) => Promise<Response>

export type FetchLimits = {
  bytesMax: number
  deadlineMs: number
  /** host:port of the simulated network, which answers in plain HTTP for all of WhatsApp's hosts. */
  simulatedHost?: string | undefined
  /** Which addresses may be asked. `isWhatsAppUrl` by default. */
  isAllowed?: (url: URL) => boolean
  /** Of WhatsApp's hosts. The system resolver by default. */
  lookup?: LookupFunction
}

/** On the options of a download, as `dispatcher`: how the sender of it reaches WhatsApp. Undefined: directly. */
export class DownloadRoute {
  // Private, because it leads to the password of a proxy.
  readonly #agent: Agent | undefined
  constructor(agent: Agent | undefined) {
    this.#agent = agent
  }
  get agent(): Agent | undefined {
    return this.#agent
  }
}

/** Limit for what Baileys downloads from WhatsApp: histories and app states. */
export const downloadLimits = { bytesMax: 16 * 2 ** 20, deadlineMs: 30_000 }

/** Other devices of the account choose the path that is appended to WhatsApp's host: `:9443/x`, `.example.com/x`. */
export function isWhatsAppUrl(url: URL): boolean {
  const isPlain = url.port === '' && url.username === '' && url.password === ''
  return url.protocol === 'https:' && isPlain && url.hostname.endsWith('.whatsapp.net')
}

/**
 * A `fetch` for the downloads that Baileys starts itself: only from WhatsApp's hosts at public addresses, without
 * redirects, and up to a number of bytes. Everything else is refused before a connection is opened.
 */
export function makeWhatsAppFetch({
  simulatedHost,
  isAllowed = isWhatsAppUrl,
  ...limits
}: FetchLimits): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const isSimulated = simulatedHost !== undefined && (isAllowed(url) || url.host === simulatedHost)
    if (!isSimulated && (simulatedHost !== undefined || !isAllowed(url))) {
      throw new TypeError('Refused to download from a host that is not one of WhatsApp')
    }
    if ((init?.method ?? 'GET') !== 'GET') throw new TypeError('Refused to send anything but GET')
    const { dispatcher: route } = (init ?? {}) as { dispatcher?: unknown }
    // A sender with a proxy must not reach WhatsApp without it.
    if (!(route instanceof DownloadRoute)) throw new TypeError('Refused to download for an unknown sender')
    const target = isSimulated ? new URL(url.pathname + url.search, `http://${simulatedHost}`) : url
    const headers = new Headers(init?.headers)
    const { signal } = init ?? {}
    const response = await get(target, { headers, agent: route.agent, isSimulated, signal }, limits)
    // A redirect is returned as a response without content; it is not followed.
    if (response.statusCode !== 200) {
      response.destroy()
      return new Response(null, { status: response.statusCode ?? 502 })
    }
    const body = Readable.toWeb(Readable.from(bounded(response, limits.bytesMax)))
    return new Response(body as ReadableStream<Uint8Array>)
  }
}

type Target = {
  headers: Headers
  agent: Agent | undefined
  isSimulated: boolean
  signal: AbortSignal | null | undefined
}

function get(
  url: URL,
  { headers, agent, isSimulated, signal }: Target,
  { deadlineMs, lookup = systemLookup }: FetchLimits,
): Promise<IncomingMessage> {
  return ask({
    url,
    headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
    deadlineMs,
    signal,
    ...(agent && { agent }),
    ...(!isSimulated && !agent && { lookup: () => makePublicLookup(isForbiddenAddress, lookup) }),
  })
}

async function* bounded(response: IncomingMessage, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > bytesMax) throw new TypeError('Refused to download more than the limit')
    yield chunk
  }
}
