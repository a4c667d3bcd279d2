import { isAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaType } from '@wagate/shared/message-kinds'
import { AppError } from '../errors/app-error.ts'

export function tooLargeAs(type: MediaType, bytesMax: number): AppError {
  return new AppError('payload_too_large', `The ${type} is larger than ${bytesMax} bytes.`)
}

/** Why a file cannot be sent as this type. `mime` is read from its bytes. */
export function findTypeFault(type: MediaType, mime: string | undefined): AppError | undefined {
  if (isAcceptedMedia(type, mime)) return undefined
  return new AppError(
    'invalid_media',
    `The file is not of type ${type}: detected ${mime ?? 'no known type'}.`,
  )
}
