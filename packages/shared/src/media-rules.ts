import { kindOf, type MediaType, mediaTypes } from './message-kinds.ts'

/** The same container holds sound, pictures that move, or both. Which ones takes more than its beginning to tell. */
const containers = /^(video|audio)\/(mp4|3gpp|x-m4[av])$/

/** As `isAcceptedMedia`, by the beginning of a file: the worker decides by all of it. */
export function mayBeAcceptedMedia(type: MediaType, mime: string | undefined): boolean {
  if (isAcceptedMedia(type, mime)) return true
  return (type === 'audio' || type === 'video') && mime !== undefined && containers.test(mime)
}

/** `mime` is read from the bytes, never from a header. Undefined if they are not recognised. */
export function isAcceptedMedia(type: MediaType, mime: string | undefined): boolean {
  const { accepts } = kindOf(type)
  return !accepts || (mime !== undefined && accepts.test(mime))
}

/** What a file is that cannot be sent as this type, and what to do, as the end of a sentence. */
export function describeMisfit(type: MediaType, mime: string | undefined): string {
  if (mime === undefined) return 'detected no known type'
  const fitting = mediaTypes.find((other) => other !== 'document' && mayBeAcceptedMedia(other, mime))
  const advice =
    adviceOn.find((known) => known.type === type && known.types.test(mime))?.advice ??
    `Send it with type ${fitting ?? 'document'}`
  return `detected ${mime}. ${advice}`
}

const orDocument = 'or send it with type document'
/** What to do with files that phones do not show as the type that was given. */
const adviceOn: { type: MediaType; types: RegExp; advice: string }[] = [
  {
    type: 'image',
    types: /^image\/gif$/,
    advice: `Convert it to MP4 and send it with type video, ${orDocument}`,
  },
  { type: 'image', types: /^image\//, advice: `Convert it to JPEG or PNG, ${orDocument}` },
  { type: 'video', types: /^video\//, advice: `Convert it to MP4 (H.264 and AAC), ${orDocument}` },
  { type: 'audio', types: /^audio\//, advice: `Convert it to MP3, M4A or Ogg Opus, ${orDocument}` },
]
