import { databaseFailure } from '@wagate/db/failures'
import { z } from 'zod'
import { AppError } from '../errors/app-error.ts'

/** The form of every failure; `code` is one of those documented for the operation. */
export const failureObject = z
  .object({
    ok: z.literal(false),
    error: z.string().describe('Human-readable explanation'),
    code: z.string().describe('Machine-readable error code'),
    request_id: z.string().describe('Same as the X-Request-Id header'),
    details: z
      .array(z.object({ parameter: z.string(), message: z.string() }))
      .optional()
      .describe('The invalid parameters'),
    limit: z
      .string()
      .optional()
      .describe('With `rate_limited`: the limit that was met, one of those in docs/errors.md'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Remarks on the request, such as parameters that the operation does not have'),
    idempotency_key: z
      .string()
      .optional()
      .describe(
        'Of a send-media with a data: URL and without a key that may have been accepted: repeat it with this key',
      ),
  })
  .meta({ id: 'Failure' })

type Noted = { madeIdempotencyKey?: string | undefined; warnings?: string[] | undefined }

export function failureBody(
  failure: AppError,
  requestId: string,
  { madeIdempotencyKey, warnings = [] }: Noted = {},
): z.infer<typeof failureObject> {
  return {
    ok: false,
    error: failure.message,
    code: failure.code,
    request_id: requestId,
    ...(failure.details && { details: failure.details }),
    ...(failure.limit !== undefined && { limit: failure.limit }),
    ...(warnings.length > 0 && { warnings }),
    ...(madeIdempotencyKey && { idempotency_key: madeIdempotencyKey }),
  }
}

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
