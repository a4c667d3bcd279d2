import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { text } from '../parameters/parameter-types.ts'

const keyCharsMax = 255

/** The parameter of every operation that can be repeated safely. */
export const idempotencyKeyParameter = text(keyCharsMax)
  .optional()
  .describe(
    'Repeating a request with the same key within 24 hours has no further effect. Also accepted as the header Idempotency-Key',
  )

/** The key from the header or the parameter, undefined without one. */
export function findIdempotencyKey(
  { request: { idempotencyKeyHeader: header } }: { request: { idempotencyKeyHeader: string | undefined } },
  parameter: string | undefined,
): string | undefined {
  // As a parameter, an empty value counts as not given.
  if (header === undefined || header === '') return parameter
  if (parameter !== undefined && parameter !== header) {
    throw new AppError('duplicate_parameter', 'Idempotency-Key and idempotency_key have different values.')
  }
  const key = text(keyCharsMax).safeParse(header)
  if (key.success) return key.data
  throw invalidParameter('Idempotency-Key', `must have 1 to ${keyCharsMax} characters`)
}

export function idempotencyKeyReused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'The idempotency key was used with different parameters within the last 24 hours.',
  )
}
