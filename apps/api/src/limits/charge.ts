import type { Allowance, RateLimiter } from '@wagate/queue/rate-limits'
import { AppError } from '@wagate/shared/app-error'

/**
 * Takes one of the tokens of `key` and adds to the headers what is left (draft-ietf-httpapi-ratelimit-headers-10).
 * Throws `rate_limited`.
 */
export async function charge(
  limiter: RateLimiter | undefined,
  key: string,
  headers: Record<string, string>,
): Promise<void> {
  if (!limiter) return
  const { name, quota, windowSeconds } = limiter.policy
  const allowance = await limiter.take(key)
  const { isAllowed, remaining, resetMs } = allowance
  addItem(headers, 'RateLimit-Policy', `"${name}";q=${quota};w=${Math.ceil(windowSeconds)}`)
  addItem(headers, 'RateLimit', `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
  if (!isAllowed) throw tooMany('There were too many requests. Try again later.', allowance)
}

export function tooMany(sentence: string, { resetMs }: Allowance): AppError {
  return new AppError('rate_limited', sentence, { retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)) })
}

/** Both headers are lists: an operation may have a limit of its own beside that of the key. */
function addItem(headers: Record<string, string>, name: string, item: string): void {
  headers[name] = headers[name] === undefined ? item : `${headers[name]}, ${item}`
}
