import { Readable } from 'node:stream'
import type { Database } from '@wagate/db/client'
import { findMediaBlob, findMediaBlobSize, type WaitingMessage } from '@wagate/db/queries/outbox'
import { isAcceptedMedia } from '@wagate/shared/media-rules'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import type { Semaphore } from '@wagate/shared/semaphore'
import type { MediaType } from '@wagate/shared/statuses'
import type { AnyMediaMessageContent } from 'baileys'
import { fileTypeFromBuffer } from 'file-type'
import type { Config } from '../config.ts'
import { fetchMedia, type MediaRoom } from './fetch-media.ts'
import { MediaError } from './media-error.ts'
import { findPictureSize } from './picture-size.ts'

type Source = { config: Config; db: Database; mediaBytes: Semaphore }

const fetchDeadlineMs = 15_000
/** Postgres sends bytes as hexadecimal text, which is decoded when all of it is there. */
const bytesPerBlobByte = 3
const pieceBytes = 64 * 1024
/** Those of a good camera. Baileys opens four pictures at a time at most, each with 4 bytes for a pixel. */
const previewPixelsMax = 25_000_000
/** Keeps Baileys from making one; taken out before the message is sent. */
const noPreview = ''

/**
 * The media of a message, fetched and checked, for Baileys to upload: it is given bytes, never an address.
 * Call `release` when they are no longer needed. Throws MediaError when the message can never be sent.
 */
export async function loadMedia(
  source: Source,
  message: WaitingMessage & { type: MediaType },
): Promise<{ content: AnyMediaMessageContent; release: () => void }> {
  let release: () => void = () => undefined
  try {
    const bytes = await loadBytes(source, message, {
      tryTake(size) {
        const taken = source.mediaBytes.tryAcquire(size)
        if (taken) release = taken
        return taken !== undefined
      },
      async take(size) {
        release = await source.mediaBytes.acquire(size)
      },
    })
    return { content: await makeContent(message, bytes), release }
  } catch (error) {
    release()
    throw error
  }
}

async function loadBytes(
  { config, db }: Source,
  message: WaitingMessage & { type: MediaType },
  room: MediaRoom,
): Promise<Buffer> {
  const url = message.url ?? ''
  if (!url.startsWith('data:')) {
    return fetchMedia(url, {
      bytesMax: bytesMaxOf(config, message.type),
      deadlineMs: fetchDeadlineMs,
      isForbidden: config.ALLOW_PRIVATE_MEDIA_HOSTS ? () => false : isForbiddenAddress,
      room,
    })
  }
  const size = await findMediaBlobSize(db, message.id)
  if (size === undefined) throw new MediaError('invalid_media')
  await room.take(size * bytesPerBlobByte)
  const blob = await findMediaBlob(db, message.id)
  if (!blob) throw new MediaError('invalid_media')
  return blob.bytes
}

function bytesMaxOf(config: Config, type: MediaType): number {
  return {
    image: config.MEDIA_IMAGE_BYTES_MAX,
    audio: config.MEDIA_AUDIO_BYTES_MAX,
    video: config.MEDIA_VIDEO_BYTES_MAX,
    document: config.MEDIA_DOCUMENT_BYTES_MAX,
  }[type]
}

async function makeContent(
  message: WaitingMessage & { type: MediaType },
  bytes: Buffer,
): Promise<AnyMediaMessageContent> {
  const mime = (await fileTypeFromBuffer(bytes))?.mime as string | undefined
  if (!isAcceptedMedia(message.type, mime)) throw new MediaError('media_type_mismatch')
  const caption = message.body ? { caption: message.body } : {}
  // What Baileys is given in one piece it also encrypts into one.
  const stream = Readable.from(piecesOf(bytes))
  switch (message.type) {
    case 'image':
      return { image: { stream }, mimetype: mime ?? 'image/jpeg', ...previewOf(bytes), ...caption }
    case 'video':
      // Baileys would run ffmpeg on what strangers send, where there is one.
      return { video: { stream }, mimetype: mime ?? 'video/mp4', jpegThumbnail: noPreview, ...caption }
    case 'audio':
      return { audio: { stream }, mimetype: mime ?? 'audio/mpeg' }
    case 'document':
      return {
        document: { stream },
        mimetype: mime ?? 'application/octet-stream',
        fileName: message.filename ?? nameInUrl(message.url) ?? 'file',
        ...caption,
      }
  }
}

/** A file of a megabyte may be a picture that takes a gigabyte once it is opened: that is left to the recipient. */
function previewOf(bytes: Buffer): { jpegThumbnail?: string; width?: number; height?: number } {
  const size = findPictureSize(bytes)
  const isSmall = size && size.width * size.height <= previewPixelsMax
  return isSmall ? {} : { jpegThumbnail: noPreview, ...size }
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes)
  }
}

/** As the URL has it where it cannot be decoded; never with a path in it. */
function nameInUrl(url: string | null): string | undefined {
  if (!url || url.startsWith('data:')) return undefined
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(name).split(/[\\/]/).at(-1) || undefined
  } catch {
    return name
  }
}
