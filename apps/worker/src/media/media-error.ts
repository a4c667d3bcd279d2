import { type MessageErrorCode, messageErrors } from '@wagate/shared/message-errors'

/** `detail`: what exactly went wrong, as the end of a sentence. It is shown to callers. */
type Options = { cause?: unknown; detail?: string | undefined }

/** The media can never be sent: the message fails with this code and sentence. */
export class MediaError extends Error {
  readonly code: MessageErrorCode

  constructor(code: MessageErrorCode, { cause, detail }: Options = {}) {
    super(sentenceOf(code, detail), { cause })
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
      detail,
      retryAfterMs,
      isOfHost = true,
    }: Options & { retryAfterMs?: number | undefined; isOfHost?: boolean } = {},
  ) {
    super(sentenceOf(code, detail), { cause })
    this.name = 'MediaUnavailable'
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.isOfHost = isOfHost
  }
}

function sentenceOf(code: MessageErrorCode, detail: string | undefined): string {
  const sentence = messageErrors[code]
  return detail === undefined ? sentence : `${sentence.replace(/\.$/, '')}: ${detail}.`
}
