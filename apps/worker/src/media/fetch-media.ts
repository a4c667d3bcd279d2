import { open } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { answerOf } from '@wagate/runtime/http-answer'
import { failureOfError, failureOfStatus } from './fetch-failure.ts'
import { MediaError, MediaUnavailable } from './media-error.ts'
import type { MediaRoom } from './media-room.ts'
import { makePublicLookup } from './public-lookup.ts'

export type FetchLimits = {
  bytesMax: number
  deadlineMs: number
  isForbidden(address: string): boolean
  room: MediaRoom
  /** The system resolver by default. */
  lookup?: LookupFunction
}

const redirectsMax = 3
/** Reserved for a body of unknown length at first; doubled whenever it needs more. */
const firstBytes = 256 * 1024

/**
 * Downloads a public URL to a file. Throws MediaError or MediaUnavailable with a `media_…` code. Never connects to an
 * address that is not public.
 */
export async function fetchMedia(url: string, file: string, limits: FetchLimits): Promise<void> {
  const first = await attempt(url, file, limits)
  if (first.isDone) return
  // Do not hold the connection while waiting for memory: fetch again once there is room.
  await limits.room.wait(first.bytesWanted)
  const second = await attempt(url, file, limits)
  if (!second.isDone) throw new MediaUnavailable('media_fetch_failed')
}

/** An attempt ends early when there is no room for the next bytes. */
type Attempt = { isDone: true } | { isDone: false; bytesWanted: number }

async function attempt(url: string, file: string, limits: FetchLimits): Promise<Attempt> {
  const signal = AbortSignal.timeout(limits.deadlineMs)
  try {
    const response = await follow(new URL(url), limits, signal)
    try {
      const announced = announcedBytes(response, limits.bytesMax)
      const isDone = await writeBody(response, announced, file, limits)
      signal.throwIfAborted()
      return isDone ? { isDone } : { isDone, bytesWanted: announced ?? limits.bytesMax }
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (signal.aborted) throw new MediaUnavailable('media_fetch_timeout', { cause: error })
    throw failureOfError(error)
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
  // An address needs no DNS look-up. URL has normalised its decimal, octal and short forms.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && limits.isForbidden(host)) throw new MediaError('media_url_forbidden')
  const options: https.RequestOptions = {
    signal,
    // A new connection: a kept-alive one would be used without a check of its address.
    agent: false,
    headers: { 'accept-encoding': 'identity', 'user-agent': 'wagate' },
    lookup: makePublicLookup(limits.isForbidden, limits.lookup),
  }
  return answerOf((url.protocol === 'https:' ? https : http).get(url, options))
}

function redirectTarget({ statusCode = 0, headers }: http.IncomingMessage): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? headers.location : undefined
}

/** Undefined when the host does not send it. */
function announcedBytes(
  { statusCode = 0, headers }: http.IncomingMessage,
  bytesMax: number,
): number | undefined {
  if (statusCode !== 200) throw failureOfStatus(statusCode, headers)
  // We asked for no encoding: an unsolicited one may be a decompression bomb.
  if (headers['content-encoding'] !== undefined) throw new MediaError('media_fetch_failed')
  const length = headers['content-length']
  if (length === undefined) return undefined
  if (Number(length) > bytesMax) throw new MediaError('media_too_large')
  return Number(length)
}

/** Returns false when there is no room for all of it. */
async function writeBody(
  response: http.IncomingMessage,
  announced: number | undefined,
  file: string,
  { bytesMax, room }: FetchLimits,
): Promise<boolean> {
  const expected = announced ?? Math.min(firstBytes, bytesMax)
  if (!room.tryGrow(expected)) return false
  const handle = await open(file, 'w', 0o600)
  try {
    let size = 0
    for await (const chunk of response) {
      size += chunk.length
      if (size > bytesMax) throw new MediaError('media_too_large')
      if (size > expected && !room.tryGrow(reservationFor(size, expected, bytesMax))) return false
      await handle.appendFile(chunk)
    }
    if (!response.complete) throw new MediaUnavailable('media_fetch_failed')
    if (size === 0) throw new MediaError('invalid_media')
    return true
  } finally {
    await handle.close()
  }
}

function reservationFor(size: number, expected: number, bytesMax: number): number {
  return Math.min(bytesMax, expected * 2 ** Math.ceil(Math.log2(size / expected)))
}
