import { z } from 'zod'
import type { AppError } from '../errors/app-error.ts'

/** Every failure has this form; `code` is one of those that are documented for the operation. */
export const failureObject = z
  .object({
    ok: z.literal(false),
    error: z.string().describe('A sentence for people'),
    code: z.string().describe('For programs'),
    request_id: z.string().describe('The same as in the header X-Request-Id'),
    details: z
      .array(z.object({ parameter: z.string(), message: z.string() }))
      .optional()
      .describe('The parameters that are wrong'),
  })
  .meta({ id: 'Failure' })

export function failureBody(failure: AppError, requestId: string): z.infer<typeof failureObject> {
  return {
    ok: false,
    error: failure.message,
    code: failure.code,
    request_id: requestId,
    ...(failure.details && { details: failure.details }),
  }
}
