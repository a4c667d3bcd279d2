import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { isAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaContent } from '../session/sending/compose-content.ts'
import { documentType } from './document-type.ts'
import type { Inspector } from './inspection/inspector.ts'
import type { MediaFacts } from './inspection/media-facts.ts'
import { MediaError } from './media-error.ts'
import { type MediaFile, type MediaMessage, type MediaSource, makeMediaFile } from './media-file.ts'

/** The inspector reads what a file is, in a process of its own. */
export type InspectedSource = MediaSource & { media: { inspector: Inspector } }

/** An empty thumbnail keeps Baileys from opening the file to make one. It is removed before the message is sent. */
const noThumbnail = ''

/**
 * Fetches and checks the media of a message for Baileys to upload: it gets a stream, and everything that it would open the
 * file for. Call `release` when the media is no longer needed. Throws MediaError when the message can never be sent, and
 * MediaUnavailable when it may be sent later.
 */
export async function loadMedia(
  source: InspectedSource,
  message: MediaMessage,
): Promise<{ content: MediaContent; release: () => Promise<void> }> {
  const file = await makeMediaFile(source, message)
  try {
    const facts = await source.media.inspector.inspect(String(source.device.accountId), {
      file: file.path,
      type: message.type,
    })
    if (!isAcceptedMedia(message.type, facts.mime)) throw new MediaError('media_type_mismatch')
    return { content: makeContent(message, file, facts), release: file.remove }
  } catch (error) {
    await file.remove()
    throw error
  }
}

function makeContent(
  message: MediaMessage,
  file: MediaFile,
  { mime, extension, thumbnail = noThumbnail, ...facts }: MediaFacts,
): MediaContent {
  const stream = Readable.from(piecesOf(file.path))
  const caption = message.body ? { caption: message.body } : {}
  switch (message.type) {
    case 'image':
      return {
        image: { stream },
        mimetype: mime ?? 'image/jpeg',
        jpegThumbnail: thumbnail,
        ...sizeOf(facts),
        ...caption,
      }
    case 'video':
      return {
        video: { stream },
        mimetype: mime ?? 'video/mp4',
        jpegThumbnail: thumbnail,
        ...secondsOf(facts),
        ...caption,
      }
    case 'audio':
      return { audio: { stream }, mimetype: mime ?? 'audio/mpeg', seconds: facts.seconds ?? 0 }
    case 'document': {
      const name = message.filename ?? nameInUrl(message.url)
      const type = documentType({ mime, extension }, file.claimedMime, name)
      const fileName = name ?? (type.extension ? `file.${type.extension}` : 'file')
      return { document: { stream }, mimetype: type.mime, fileName, ...caption }
    }
  }
}

/** Opens the file with the first read, so that an error reaches the reader. */
async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path)
}

function sizeOf({ width, height }: MediaFacts): { width?: number; height?: number } {
  return width && height ? { width, height } : {}
}

/** Baileys passes on fields that its type does not name. */
function secondsOf({ seconds }: MediaFacts): object {
  return seconds ? { seconds } : {}
}

/** Left as in the URL if it cannot be decoded; never contains a path. */
function nameInUrl(url: string | null): string | undefined {
  if (!url || !/^https?:/.test(url)) return undefined
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(name).split(/[\\/]/).at(-1) || undefined
  } catch {
    return name
  }
}
