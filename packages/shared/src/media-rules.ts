import { kindOf, type MediaType } from './message-kinds.ts'

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
