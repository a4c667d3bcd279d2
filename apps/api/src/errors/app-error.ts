import { type RequestErrorCode, requestErrorStatus } from './request-errors.ts'

export type ErrorDetail = { parameter: string; message: string }

type AppErrorOptions = {
  details?: ErrorDetail[]
  /** Of `rate_limited`: the name of the limit. */
  limit?: string
  retryAfterSeconds?: number
  cause?: unknown
}

/** A failure the caller can act on. Anything else that is thrown is a bug and answers "Internal error". */
export class AppError extends Error {
  readonly code: RequestErrorCode
  readonly details: ErrorDetail[] | undefined
  readonly limit: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: RequestErrorCode, sentence: string, options: AppErrorOptions = {}) {
    super(sentence, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.limit = options.limit
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return requestErrorStatus[this.code]
  }
}
