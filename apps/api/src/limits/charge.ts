import type { Allowance, RateLimiter } from '@wagate/queue/rate-limits'
import { AppError } from '../errors/app-error.ts'
import type { Limits } from './limits.ts'

/** A token bucket to take a token from. Unlimited without a limiter. */
export type Charge = { limiter: RateLimiter | undefined; key: string }

/** Charges limits that only one operation has. Throws `rate_limited`. */
export type ChargeLimits = (...charges: { limit: keyof Limits; key: string }[]) => Promise<void>

type ChargedLimit = { limiter: RateLimiter; allowance: Allowance }

/**
 * Takes a token from each bucket in turn, up to the first empty one, and describes the bucket with the fewest tokens left
 * in the response headers (draft-ietf-httpapi-ratelimit-headers-10). Throws `rate_limited`.
 */
export async function charge(
  charges: Charge[],
  responseHeaders: Record<string, string>,
  refusal = 'Too many requests. Try again later.',
): Promise<void> {
  let tightest: ChargedLimit | undefined
  for (const { limiter, key } of charges) {
    if (!limiter) continue
    const allowance = await limiter.take(key)
    const isTightest = !tightest || allowance.remaining < tightest.allowance.remaining
    if (isTightest || !allowance.isAllowed) tightest = { limiter, allowance }
    if (!allowance.isAllowed) break
  }
  if (!tightest) return
  addTo(responseHeaders, tightest)
  const { isAllowed, resetMs } = tightest.allowance
  if (isAllowed) return
  throw new AppError('rate_limited', refusal, {
    limit: tightest.limiter.policy.name,
    retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)),
  })
}

function addTo(
  headers: Record<string, string>,
  { limiter: { policy }, allowance: { remaining, resetMs } }: ChargedLimit,
): void {
  const { name, quota, windowSeconds } = policy
  addItem(headers, 'RateLimit-Policy', `"${name}";q=${quota};w=${Math.ceil(windowSeconds)}`)
  addItem(headers, 'RateLimit', `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
}

/** Both headers are lists: an operation may have its own limit in addition to that of all requests. */
function addItem(headers: Record<string, string>, name: string, item: string): void {
  headers[name] = headers[name] === undefined ? item : `${headers[name]}, ${item}`
}
