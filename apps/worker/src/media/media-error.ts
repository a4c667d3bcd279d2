import { type MessageErrorCode, messageErrors } from '@wagate/shared/message-errors'

/** The media can never be sent: the message fails with this code. */
export class MediaError extends Error {
  readonly code: MessageErrorCode

  constructor(code: MessageErrorCode, cause?: unknown) {
    super(messageErrors[code], { cause })
    this.name = 'MediaError'
    this.code = code
  }
}

/** The media is temporarily unavailable: try again. */
export class MediaUnavailable extends Error {
  readonly code: MessageErrorCode
  /** Set when the host says how long to wait. */
  readonly retryAfterMs: number | undefined
  /** False: its host was not asked, or this installation was at fault. */
  readonly isOfHost: boolean

  constructor(
    code: MessageErrorCode,
    {
      cause,
      retryAfterMs,
      isOfHost = true,
    }: { cause?: unknown; retryAfterMs?: number; isOfHost?: boolean } = {},
  ) {
    super(messageErrors[code], { cause })
    this.name = 'MediaUnavailable'
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.isOfHost = isOfHost
  }
}
