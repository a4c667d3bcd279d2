import { Readable } from 'node:stream'
import { ask } from '@wagate/runtime/http-client'
import { WhatsAppRoute } from './whatsapp-route.ts'

/** Downloads for one sender. */
export type WhatsAppFetch = (url: URL) => Promise<Response>

export type FetchLimits = {
  bytesMax: number
  deadlineMs: number
  /** Which addresses may be asked. Those of WhatsApp's file hosts by default. */
  isAllowed?: (url: URL) => boolean
}

/** Limit for what Baileys downloads from WhatsApp: histories and app states. */
export const downloadLimits = { bytesMax: 16 * 2 ** 20, deadlineMs: 30_000 }

/** What makes Baileys, and the caller of a `fetch` made here, download as a sender does. */
export function downloadedBy(dispatcher: WhatsAppRoute): RequestInit {
  // Baileys passes it on, and knows it by the type of undici.
  return { dispatcher } as unknown as RequestInit
}

/**
 * A `fetch` for the downloads that Baileys starts itself, which bring their route: only from WhatsApp's hosts at public
 * addresses, without redirects, and up to a number of bytes. Everything else is refused before a connection is opened.
 */
export function makeWhatsAppFetch({ isAllowed, ...limits }: FetchLimits): typeof fetch {
  return async (input, init) => {
    if ((init?.method ?? 'GET') !== 'GET') throw new TypeError('Refused to send anything but GET')
    const { dispatcher: route } = (init ?? {}) as { dispatcher?: unknown }
    // A sender with a proxy must not reach WhatsApp without it.
    if (!(route instanceof WhatsAppRoute)) throw new TypeError('Refused to download for an unknown sender')
    const headers = Object.fromEntries(new Headers(init?.headers))
    const response = await ask({
      ...route.to(new URL(input instanceof Request ? input.url : input), isAllowed),
      headers: { ...headers, 'accept-encoding': 'identity' },
      deadlineMs: limits.deadlineMs,
      signal: init?.signal,
    })
    // A redirect is returned as a response without content; it is not followed.
    if (response.statusCode !== 200) {
      response.destroy()
      return new Response(null, { status: response.statusCode ?? 502 })
    }
    const body = Readable.toWeb(Readable.from(bounded(response, limits.bytesMax)))
    return new Response(body as ReadableStream<Uint8Array>)
  }
}

async function* bounded(response: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > bytesMax) throw new TypeError('Refused to download more than the limit')
    yield chunk
  }
}
