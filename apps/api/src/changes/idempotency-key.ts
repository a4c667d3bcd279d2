import { createHash, randomUUID } from 'node:crypto'
import { AppError } from '../errors/app-error.ts'
import { isLarge, slicesInTurn } from '../http/in-slices.ts'
import type { Call } from '../operation.ts'
import { text } from '../parameters/parameter-types.ts'

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

/** SHA-256 of the payload's JSON, in base64. Never of a secret that could be guessed: it is stored. */
export async function hashPayload(payload: unknown): Promise<string> {
  const longStrings: string[] = []
  const placeholder = randomUUID()
  const outline = JSON.stringify(payload, (_, value) =>
    typeof value === 'string' && isLarge(value.length) ? longStrings.push(value) && placeholder : value,
  )
  const hash = createHash('sha256')
  const [start = '', ...rest] = outline.split(placeholder)
  hash.update(start)
  for (const [index, text] of rest.entries()) {
    for await (const slice of slicesInTurn(longStrings[index] ?? ''))
      hash.update(JSON.stringify(slice).slice(1, -1))
    hash.update(text)
  }
  return hash.digest('base64')
}

export function idempotencyKeyReused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'The idempotency key was used with other parameters within the last 24 hours.',
  )
}
