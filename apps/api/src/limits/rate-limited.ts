import { AppError } from '../errors/app-error.ts'
import type { LimitName } from './limit-guide.ts'

/** A refusal by a limit that is not a bucket, such as one of what runs at the same time. */
export function rateLimited(limit: LimitName, sentence: string, retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', sentence, { limit, retryAfterSeconds })
}
