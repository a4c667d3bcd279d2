import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { MediaError } from './media-error.ts'
import { makePublicLookup } from './public-lookup.ts'

export type FetchLimits = {
  bytesMax: number
  deadlineMs: number
  isForbidden(address: string): boolean
  room: MediaRoom
  /** The system's by default. */
  lookup?: LookupFunction
}

/** Memory for a body. */
export type MediaRoom = {
  /** Takes it if nobody has to wait for it. */
  tryTake(bytes: number): boolean
  take(bytes: number): Promise<void>
}

const redirectsMax = 3

/** The bytes behind a public URL. Throws MediaError with a `media_…` code; nothing private is ever reached. */
export async function fetchMedia(url: string, limits: FetchLimits): Promise<Buffer> {
  const first = await attempt(url, limits, limits.room.tryTake)
  if (first.bytes) return first.bytes
  // A host does not wait for as long as others take with their media: it is asked again when there is room.
  await limits.room.take(first.size)
  const second = await attempt(url, limits, (size) => size <= first.size)
  if (second.bytes) return second.bytes
  throw new MediaError('media_fetch_failed')
}

type Attempt = {
  /** Upper bound of the bytes, or their number when the host says it. */
  size: number
  /** Undefined when there was no room. */
  bytes?: Buffer
}

async function attempt(
  url: string,
  limits: FetchLimits,
  hasRoom: (size: number) => boolean,
): Promise<Attempt> {
  const signal = AbortSignal.timeout(limits.deadlineMs)
  try {
    const response = await follow(new URL(url), limits, signal)
    try {
      const size = sizeOf(response, limits.bytesMax)
      return hasRoom(size) ? { size, bytes: await readBody(response, size, signal) } : { size }
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (error instanceof MediaError) throw error
    throw new MediaError(signal.aborted ? 'media_fetch_timeout' : 'media_fetch_failed', error)
  }
}

async function follow(url: URL, limits: FetchLimits, signal: AbortSignal): Promise<http.IncomingMessage> {
  let target = url
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const response = await request(target, limits, signal)
    const location = redirectTarget(response)
    if (location === undefined) return response
    response.destroy()
    target = new URL(location, target)
  }
  throw new MediaError('media_fetch_failed')
}

function request(url: URL, limits: FetchLimits, signal: AbortSignal): Promise<http.IncomingMessage> {
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  if (!isWeb || url.username || url.password) throw new MediaError('media_url_forbidden')
  // No name is looked up for an address. URL has turned its decimal, octal and short forms into the usual one.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && limits.isForbidden(host)) throw new MediaError('media_url_forbidden')
  const options: https.RequestOptions = {
    signal,
    // A connection of its own: one that is kept alive would be used without a look at its address.
    agent: false,
    headers: { 'accept-encoding': 'identity', 'user-agent': 'wagate' },
    lookup: makePublicLookup(limits.isForbidden, limits.lookup),
  }
  return new Promise((resolve, reject) => {
    const { get } = url.protocol === 'https:' ? https : http
    get(url, options, resolve).on('error', reject)
  })
}

function redirectTarget({ statusCode = 0, headers }: http.IncomingMessage): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? headers.location : undefined
}

function sizeOf({ statusCode, headers }: http.IncomingMessage, bytesMax: number): number {
  if (statusCode !== 200) throw new MediaError('media_fetch_failed')
  // We asked for none: this is somebody who wants us to unpack something.
  if (headers['content-encoding'] !== undefined) throw new MediaError('media_fetch_failed')
  const size = Number(headers['content-length'] ?? bytesMax)
  if (size > bytesMax) throw new MediaError('media_too_large')
  return size
}

async function readBody(
  response: http.IncomingMessage,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Buffer> {
  // In one piece: putting chunks together would take the memory twice. What is not written to takes none.
  const body = Buffer.allocUnsafeSlow(bytesMax)
  let size = 0
  for await (const chunk of response) {
    if (size + chunk.length > bytesMax) throw new MediaError('media_too_large')
    size += chunk.copy(body, size)
  }
  signal.throwIfAborted()
  if (!response.complete) throw new MediaError('media_fetch_failed')
  if (size === 0) throw new MediaError('invalid_media')
  return body.subarray(0, size)
}
