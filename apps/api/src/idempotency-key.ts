import { createHash } from 'node:crypto'
import { AppError } from '@wagate/shared/app-error'
import type { Call } from './operation.ts'
import { text } from './parameters/parameter-types.ts'

const keyCharsMax = 255

/** The parameter of every operation that can be repeated safely. */
export const idempotencyKeyParameter = text(keyCharsMax)
  .optional()
  .describe('A repetition with the same key within 24 hours does nothing new; also as header Idempotency-Key')

/** The key of header or parameter, undefined without one. */
export function findIdempotencyKey(
  { idempotencyKeyHeader: header }: Call,
  parameter: string | undefined,
): string | undefined {
  if (header === undefined) return parameter
  if (parameter !== undefined && parameter !== header) {
    throw new AppError('duplicate_parameter', 'Idempotency-Key and idempotency_key have different values.')
  }
  const key = text(keyCharsMax).safeParse(header)
  if (key.success) return key.data
  const message = `must have 1 to ${keyCharsMax} characters`
  throw new AppError('invalid_parameter', `Idempotency-Key ${message}`, {
    details: [{ parameter: 'Idempotency-Key', message }],
  })
}

/** SHA-256 in base64. Never of a secret that could be guessed: it is stored. */
export function hashPayload(payload: unknown): string {
  return createHash('sha256').update(JSON.stringify(payload)).digest('base64')
}

export function idempotencyKeyReused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'The idempotency key was used with other parameters within the last 24 hours.',
  )
}
