import type { IncomingHttpHeaders } from 'node:http'
import { DeadlineExceeded } from '@wagate/runtime/deadline'
import { MediaError, MediaUnavailable } from './media-error.ts'

const retryAfterMsMax = 600_000
/** Request Timeout, Too Early, Too Many Requests. Every 5xx is temporary as well. */
const temporaryStatuses = [408, 425, 429]
/** Errors of this machine. */
const localCodes = ['EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ENOSPC', 'EDQUOT', 'EIO']
/** Errors of the network, and of name servers that do not answer. Any other code is final. */
const temporaryCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
]

/** The error for a status other than 200. */
export function failureOfStatus(status: number, headers: IncomingHttpHeaders): MediaError | MediaUnavailable {
  if (status < 500 && !temporaryStatuses.includes(status)) return new MediaError('media_fetch_failed')
  const retryAfterMs = readRetryAfterMs(headers['retry-after'])
  return new MediaUnavailable('media_fetch_failed', retryAfterMs === undefined ? {} : { retryAfterMs })
}

/** The error for a failed connection. */
export function failureOfError(error: unknown): MediaError | MediaUnavailable {
  if (error instanceof MediaError || error instanceof MediaUnavailable) return error
  if (error instanceof DeadlineExceeded) return new MediaUnavailable('media_fetch_timeout', { cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (localCodes.includes(code))
    return new MediaUnavailable('media_fetch_failed', { cause: error, isOfHost: false })
  return temporaryCodes.includes(code)
    ? new MediaUnavailable('media_fetch_failed', { cause: error })
    : new MediaError('media_fetch_failed', error)
}

/** RFC 9110, 10.2.3: seconds or a date. */
export function readRetryAfterMs(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), retryAfterMsMax)
}
