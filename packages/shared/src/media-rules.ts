import { kindOf, type MediaType } from './message-kinds.ts'

/** `mime` is read from the bytes, never from a header. Undefined if they are not recognised. */
export function isAcceptedMedia(type: MediaType, mime: string | undefined): boolean {
  const { accepts } = kindOf(type)
  return !accepts || (mime !== undefined && accepts.test(mime))
}
