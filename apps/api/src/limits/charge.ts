import type { Allowance, RateLimiter } from '@wagate/queue/rate-limits'
import { AppError } from '../errors/app-error.ts'
import { type BucketName, bucketGuide } from './limit-guide.ts'
import type { Limits } from './limits.ts'

/** A token bucket to take a token from, or `count` of them, for which it need not have more than one. Unlimited without a limiter. */
export type Charge = { limiter: RateLimiter | undefined; key: string; count?: number }

/** Charges limits that only one operation has. Throws `rate_limited`. */
export type ChargeLimits = (
  ...charges: { limit: keyof Limits; key: string; count?: number }[]
) => Promise<void>

type ChargedLimit = { limiter: RateLimiter; allowance: Allowance }

/**
 * Takes a token from each bucket in turn, up to the first empty one, and describes the bucket with the fewest tokens left
 * in the response headers (draft-ietf-httpapi-ratelimit-headers-10). Throws `rate_limited`.
 */
export async function charge(charges: Charge[], responseHeaders: Record<string, string>): Promise<void> {
  let tightest: ChargedLimit | undefined
  for (const { limiter, key, count } of charges) {
    if (!limiter) continue
    const allowance = await (count === undefined ? limiter.take(key) : limiter.takeMany(key, count))
    const isTightest = !tightest || allowance.remaining < tightest.allowance.remaining
    if (isTightest || !allowance.isAllowed) tightest = { limiter, allowance }
    if (!allowance.isAllowed) break
  }
  if (!tightest) return
  addTo(responseHeaders, tightest)
  const { isAllowed, resetMs } = tightest.allowance
  if (isAllowed) return
  const { policy } = tightest.limiter
  throw new AppError('rate_limited', sentenceOf(policy), {
    limit: policy.name,
    retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)),
  })
}

const spans: Record<number, string> = {
  60: 'a minute',
  600: 'in 10 minutes',
  900: 'in 15 minutes',
  3600: 'an hour',
  86400: 'a day',
}

/** `Too many requests: at most 50 requests a second for one API key. Wait for the seconds in Retry-After.` */
function sentenceOf({ name, quota, windowSeconds }: RateLimiter['policy']): string {
  const [what, forWhom] = bucketGuide[name as BucketName]
  const span = spans[windowSeconds]
  const rate = span
    ? `${quota.toLocaleString('en')} ${what} ${span}`
    : `${Math.round(quota / windowSeconds)} ${what} a second`
  return `Too many requests: at most ${rate} ${forWhom}. Wait for the seconds in Retry-After.`
}

function addTo(
  headers: Record<string, string>,
  { limiter: { policy }, allowance: { remaining, resetMs } }: ChargedLimit,
): void {
  const { name, quota, windowSeconds } = policy
  setItem(headers, 'RateLimit-Policy', name, `q=${quota};w=${Math.ceil(windowSeconds)}`)
  setItem(headers, 'RateLimit', name, `r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
}

/**
 * Both headers are lists: an operation may have its own limit in addition to that of all requests. One that is charged again
 * has its last state.
 */
function setItem(headers: Record<string, string>, header: string, limit: string, state: string): void {
  const others = (headers[header]?.split(', ') ?? []).filter((item) => !item.startsWith(`"${limit}";`))
  headers[header] = [...others, `"${limit}";${state}`].join(', ')
}
