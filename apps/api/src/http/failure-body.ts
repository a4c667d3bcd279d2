import type { AppError } from '@wagate/shared/app-error'

export function failureBody(failure: AppError, requestId: string): Record<string, unknown> {
  return {
    ok: false,
    error: failure.message,
    code: failure.code,
    request_id: requestId,
    ...(failure.details && { details: failure.details }),
  }
}
