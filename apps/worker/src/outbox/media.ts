import type { Database } from '@wagate/db/client'
import { findMediaBlob, type WaitingMessage } from '@wagate/db/queries/outbox'
import { isAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaType } from '@wagate/shared/statuses'
import type { AnyMediaMessageContent } from 'baileys'
import { fileTypeFromBuffer } from 'file-type'
import type { Config } from '../config.ts'
import type { Semaphore } from '../semaphore.ts'
import { fetchMedia } from './fetch-media.ts'
import { MediaError } from './media-error.ts'

type Source = { config: Config; db: Database; mediaBytes: Semaphore }

const fetchDeadlineMs = 15_000

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
    const bytes = await loadBytes(source, message, async (size) => {
      release = await source.mediaBytes.acquire(size)
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
  reserve: (size: number) => Promise<void>,
): Promise<Buffer> {
  const url = message.url ?? ''
  if (!url.startsWith('data:')) {
    return fetchMedia(url, {
      bytesMax: bytesMaxOf(config, message.type),
      deadlineMs: fetchDeadlineMs,
      allowPrivateHosts: config.ALLOW_PRIVATE_MEDIA_HOSTS,
      reserve,
    })
  }
  const blob = await findMediaBlob(db, message.id)
  if (!blob) throw new MediaError('invalid_media')
  await reserve(blob.bytes.length)
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
  switch (message.type) {
    case 'image':
      return { image: bytes, mimetype: mime ?? 'image/jpeg', ...caption }
    case 'video':
      return { video: bytes, mimetype: mime ?? 'video/mp4', ...caption }
    case 'audio':
      return { audio: bytes, mimetype: mime ?? 'audio/mpeg' }
    case 'document':
      return {
        document: bytes,
        mimetype: mime ?? 'application/octet-stream',
        fileName: message.filename ?? nameInUrl(message.url) ?? 'file',
        ...caption,
      }
  }
}

function nameInUrl(url: string | null): string | undefined {
  if (!url || url.startsWith('data:')) return undefined
  const name = new URL(url).pathname.split('/').at(-1)
  return name ? decodeURIComponent(name) : undefined
}
