import { open } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { MakeLookup } from '@wagate/runtime/host-names'
import { ask } from '@wagate/runtime/http-client'
import { makePublicLookup } from '../session/network/public-lookup.ts'
import { failureOfError, failureOfStatus } from './fetch-failure.ts'
import { MediaError, MediaUnavailable } from './media-error.ts'
import type { MediaRoom } from './media-room.ts'

export type FetchLimits = {
  bytesMax: number
  deadlineMs: number
  isForbidden(address: string): boolean
  room: MediaRoom
  lookup: MakeLookup
}

const redirectsMax = 3
/** Reserved for a body of unknown length at first; doubled whenever it needs more. */
const firstBytes = 256 * 1024

/**
 * Downloads a public URL to a file, and returns what its host says of it. Throws MediaError or MediaUnavailable with a
 * `media_…` code. Never connects to an address that is not public.
 */
export async function fetchMedia(url: string, file: string, limits: FetchLimits): Promise<Fetched> {
  const first = await attempt(url, file, limits)
  if (first.isDone) return first.fetched
  // Do not hold the connection while waiting for memory: fetch again once there is room.
  await limits.room.wait(first.bytesWanted)
  const second = await attempt(url, file, limits)
  if (!second.isDone) throw new MediaUnavailable('media_fetch_failed')
  return second.fetched
}

/** `urls`: the last one to which it was redirected, and those before. */
export type Fetched = { headers: IncomingHttpHeaders; urls: string[] }

/** An attempt ends early when there is no room for the next bytes. */
type Attempt = { isDone: true; fetched: Fetched } | { isDone: false; bytesWanted: number }

/** Common firewalls refuse requests without `Accept`, and programs without a version or an address. */
const headers = {
  accept: '*/*',
  // An encoding may be a decompression bomb. Hosts that send one all the same are read up to the size of a file.
  'accept-encoding': 'identity',
  'user-agent': 'Mozilla/5.0 (compatible; wagate)',
}

async function attempt(url: string, file: string, limits: FetchLimits): Promise<Attempt> {
  const urls: string[] = []
  try {
    const response = await ask({
      url: new URL(url),
      headers,
      deadlineMs: limits.deadlineMs,
      lookup: (signal) => makePublicLookup(limits.isForbidden, limits.lookup(signal)),
      redirectsMax,
      admit(target) {
        refuseForbidden(target, limits)
        urls.unshift(target.href)
      },
    })
    try {
      const announced = announcedBytes(response, limits.bytesMax)
      const isDone = await writeBody(response, announced, file, limits)
      return isDone
        ? { isDone, fetched: { headers: response.headers, urls } }
        : { isDone, bytesWanted: announced ?? limits.bytesMax }
    } finally {
      response.destroy()
    }
  } catch (error) {
    throw failureOfError(error)
  }
}

function refuseForbidden(url: URL, limits: FetchLimits): void {
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  if (!isWeb || url.username || url.password) throw new MediaError('media_url_forbidden')
  // An address needs no DNS look-up. URL has normalised its decimal, octal and short forms.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && limits.isForbidden(host)) throw new MediaError('media_url_forbidden')
}

/** Undefined when the host does not send it. */
function announcedBytes({ statusCode = 0, headers }: IncomingMessage, bytesMax: number): number | undefined {
  if (statusCode !== 200) throw failureOfStatus(statusCode, headers)
  const length = headers['content-length']
  if (length === undefined || encodingOf(headers) !== 'identity') return undefined
  if (Number(length) > bytesMax) throw new MediaError('media_too_large')
  return Number(length)
}

const decoders = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate }

function encodingOf({
  'content-encoding': given = '',
}: IncomingHttpHeaders): 'identity' | keyof typeof decoders {
  const encoding = given.trim().toLowerCase().replace(/^x-/, '') || 'identity'
  if (encoding === 'identity' || encoding === 'none') return 'identity'
  if (encoding === 'gzip' || encoding === 'br' || encoding === 'deflate') return encoding
  throw new MediaError('media_fetch_failed', {
    detail: 'its host sent it in an unknown encoding',
  })
}

/** What was encoded counts by its size when it is decoded. Errors of the response reach the reader. */
function decoded(response: IncomingMessage): Readable {
  const encoding = encodingOf(response.headers)
  if (encoding === 'identity') return response
  return pipeline(response, decoders[encoding](), () => undefined)
}

/** Returns false when there is no room for all of it. */
async function writeBody(
  response: IncomingMessage,
  announced: number | undefined,
  file: string,
  { bytesMax, room }: FetchLimits,
): Promise<boolean> {
  const expected = announced ?? Math.min(firstBytes, bytesMax)
  if (!room.tryGrow(expected)) return false
  const handle = await open(file, 'w', 0o600)
  try {
    let size = 0
    for await (const chunk of decoded(response)) {
      size += chunk.length
      if (size > bytesMax) throw new MediaError('media_too_large')
      if (size > expected && !room.tryGrow(reservationFor(size, expected, bytesMax))) return false
      await handle.appendFile(chunk)
    }
    if (!response.complete) throw new MediaUnavailable('media_fetch_failed')
    if (size === 0) throw new MediaError('invalid_media', { detail: 'it is empty' })
    return true
  } finally {
    await handle.close()
  }
}

function reservationFor(size: number, expected: number, bytesMax: number): number {
  return Math.min(bytesMax, expected * 2 ** Math.ceil(Math.log2(size / expected)))
}
