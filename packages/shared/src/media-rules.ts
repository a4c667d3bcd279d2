import type { MediaType } from './message-kinds.ts'

/** What WhatsApp shows as an image, a video or an audio message. A document may be anything. */
const accepted: Record<Exclude<MediaType, 'document'>, RegExp> = {
  image: /^image\/(jpeg|png|webp)$/,
  video: /^video\/(mp4|3gpp)$/,
  audio: /^audio\/(mpeg|ogg|mp4|x-m4a|aac|amr)$|^audio\/ogg; codecs=opus$/,
}

/** `mime` is read from the bytes, never from a header. Undefined if they are not recognised. */
export function isAcceptedMedia(type: MediaType, mime: string | undefined): boolean {
  return type === 'document' || (mime !== undefined && accepted[type].test(mime))
}
