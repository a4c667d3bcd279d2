import { describeMisfit, mayBeAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaType } from '@wagate/shared/message-kinds'
import { AppError } from '../errors/app-error.ts'

export function tooLargeAs(type: MediaType, bytesMax: number): AppError {
  return new AppError('payload_too_large', `The ${type} is larger than ${bytesMax} bytes.`)
}

/** Why a file cannot be sent as this type. `mime` is read from its bytes. */
export function findTypeFault(type: MediaType, mime: string | undefined): AppError | undefined {
  const message = misfitOf(type, mime)
  return message === undefined ? undefined : new AppError('invalid_media', `The file ${message}.`)
}

/** As the end of a sentence about the file. */
export function misfitOf(type: MediaType, mime: string | undefined): string | undefined {
  if (mayBeAcceptedMedia(type, mime)) return undefined
  return `is not of type ${type}: ${describeMisfit(type, mime)}`
}
