import { databaseFailure } from '@wagate/db/failures'
import { AppError } from '../errors/app-error.ts'

/** A transient failure of Postgres is one that callers can act on; anything else unknown is a bug. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  switch (databaseFailure(error)) {
    case 'unavailable':
      return new AppError('unavailable', 'The gateway is temporarily unavailable. Try again.', {
        retryAfterSeconds: 1,
        cause: error,
      })
    case 'storage_full':
      return new AppError('storage_full', 'The gateway has run out of storage.', {
        retryAfterSeconds: 60,
        cause: error,
      })
    default:
      return new AppError('internal_error', 'Internal error', { cause: error })
  }
}
