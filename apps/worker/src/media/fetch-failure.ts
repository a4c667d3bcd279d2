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
  const detail = `its host answered with status ${status}`
  if (status < 500 && !temporaryStatuses.includes(status))
    return new MediaError('media_fetch_failed', { detail })
  const retryAfterMs = readRetryAfterMs(headers['retry-after'])
  return new MediaUnavailable('media_fetch_failed', { detail, retryAfterMs })
}

/** The error for a failed connection. */
export function failureOfError(error: unknown): MediaError | MediaUnavailable {
  if (error instanceof MediaError || error instanceof MediaUnavailable) return error
  if (error instanceof DeadlineExceeded) return new MediaUnavailable('media_fetch_timeout', { cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (localCodes.includes(code))
    return new MediaUnavailable('media_fetch_failed', { cause: error, isOfHost: false })
  const options = { cause: error, detail: detailOf(code) }
  return temporaryCodes.includes(code)
    ? new MediaUnavailable('media_fetch_failed', options)
    : new MediaError('media_fetch_failed', options)
}

const codesOfNames = ['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'ENONAME', 'EBADNAME']

/** Codes are those of the system, Node and OpenSSL. Their messages may contain addresses. */
function detailOf(code: string): string | undefined {
  if (!/^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return undefined
  if (codesOfNames.includes(code)) return `the name of its host does not exist (${code})`
  if (code === 'EAI_AGAIN') return `no name server answered for its host (${code})`
  if (/CERT|SIGNATURE|^(ERR_TLS|ERR_SSL|EPROTO|UNABLE_TO)/.test(code))
    return `no secure connection to its host (${code})`
  if (/^Z_/.test(code)) return `its host sent a damaged encoding (${code})`
  return `the connection to its host failed (${code})`
}

/** RFC 9110, 10.2.3: seconds or a date. */
export function readRetryAfterMs(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), retryAfterMsMax)
}
