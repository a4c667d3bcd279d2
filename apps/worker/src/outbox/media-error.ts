import { type MessageErrorCode, messageErrors } from '@wagate/shared/error-codes'

/** The media can never be sent: the message fails with this code. Other errors are tried again. */
export class MediaError extends Error {
  readonly code: MessageErrorCode

  constructor(code: MessageErrorCode, cause?: unknown) {
    super(messageErrors[code], { cause })
    this.name = 'MediaError'
    this.code = code
  }
}
