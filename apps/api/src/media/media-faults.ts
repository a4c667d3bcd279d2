import { mayBeAcceptedMedia } from '@wagate/shared/media-rules'
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
  const detected = `is not of type ${type}: detected ${mime ?? 'no known type'}`
  const advice = mime && adviceOn[type]?.find(([types]) => types.test(mime))?.[1]
  return advice ? `${detected}. ${advice}` : detected
}

const asDocument = 'Send it with type document'
/** What to do with files that phones do not show as the type that was given. */
const adviceOn: Partial<Record<MediaType, [types: RegExp, advice: string][]>> = {
  image: [
    [/^image\/gif$/, 'Convert it to MP4 and send it with type video, or send it with type document'],
    [/^image\//, `Convert it to JPEG or PNG, or ${asDocument.toLowerCase()}`],
  ],
  video: [[/^video\//, `Convert it to MP4 (H.264 and AAC), or ${asDocument.toLowerCase()}`]],
  audio: [[/^audio\//, `Convert it to MP3, M4A or Ogg Opus, or ${asDocument.toLowerCase()}`]],
}
