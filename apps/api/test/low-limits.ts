import { makeClient } from '@wagate/test-kit/http-client'
import { expect } from 'vitest'
import { makeApiKey } from '../src/credentials/api-key.ts'

/** Limits that are low, and too slow to refill noticeably during a test. */
export const lowLimits = {
  LIMIT_REQUESTS_PER_SECOND: '1',
  LIMIT_REQUESTS_BURST: '60',
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '1',
  LIMIT_ACCOUNT_REQUESTS_BURST: '150',
  LIMIT_FAILED_KEYS_PER_MINUTE: '4',
  LIMIT_QR_CODES_PER_MINUTE: '3',
  LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '5',
  TRUST_PROXY: 'true',
}

export const rateLimited = { status: 429, body: { code: 'rate_limited', limit: expect.any(String) } }
export const invalidKey = { status: 401, body: { code: 'invalid_api_key' } }

let lastAddress = 0
/** The header of a proxy, for a client address that no other test uses. */
export function newClient(): Record<string, string> {
  lastAddress += 1
  return { 'x-forwarded-for': `198.51.100.${lastAddress}` }
}

/** A request with an unknown key, unless one is given. */
export function guessKey(headers: Record<string, string>, url: string, key = makeApiKey()) {
  return makeClient(url, key).get('/user-info', {}, headers)
}

export function countStatuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
