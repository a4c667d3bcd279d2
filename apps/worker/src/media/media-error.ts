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

/** The media cannot be had now but may be later: try again until the message's time is over. */
export class MediaUnavailable extends Error {
  readonly code: MessageErrorCode
  /** Set when the host said how long to wait. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: MessageErrorCode,
    { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(messageErrors[code], { cause })
    this.name = 'MediaUnavailable'
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}
