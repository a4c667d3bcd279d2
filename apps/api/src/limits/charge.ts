import type { Allowance, RateLimiter } from '@wagate/queue/rate-limits'
import { AppError } from '../errors/app-error.ts'

/** A bucket to take a token from. Without a limiter it is unlimited. */
export type Charge = { limiter: RateLimiter | undefined; key: string }

type Taken = { limiter: RateLimiter; allowance: Allowance }

/**
 * Takes a token of each bucket in turn, up to the first that is empty, and adds to the headers the one with the
 * fewest tokens left (draft-ietf-httpapi-ratelimit-headers-10). Throws `rate_limited`.
 */
export async function charge(
  charges: Charge[],
  headers: Record<string, string>,
  refusal = 'There were too many requests. Try again later.',
): Promise<void> {
  let tightest: Taken | undefined
  for (const { limiter, key } of charges) {
    if (!limiter) continue
    const allowance = await limiter.take(key)
    const isTightest = !tightest || allowance.remaining < tightest.allowance.remaining
    if (isTightest || !allowance.isAllowed) tightest = { limiter, allowance }
    if (!allowance.isAllowed) break
  }
  if (!tightest) return
  addTo(headers, tightest)
  const { isAllowed, resetMs } = tightest.allowance
  if (isAllowed) return
  throw new AppError('rate_limited', refusal, { retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)) })
}

function addTo(
  headers: Record<string, string>,
  { limiter: { policy }, allowance: { remaining, resetMs } }: Taken,
): void {
  const { name, quota, windowSeconds } = policy
  addItem(headers, 'RateLimit-Policy', `"${name}";q=${quota};w=${Math.ceil(windowSeconds)}`)
  addItem(headers, 'RateLimit', `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
}

/** Both headers are lists: an operation may have a limit of its own beside that of all requests. */
function addItem(headers: Record<string, string>, name: string, item: string): void {
  headers[name] = headers[name] === undefined ? item : `${headers[name]}, ${item}`
}
