import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { weighType } from '@wagate/shared/file-evidence'
import { cleanFilename, completeFilename } from '@wagate/shared/file-names'
import type { FileSigns } from '@wagate/shared/file-signs'
import { describeMisfit, isAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaContent } from '../session/sending/compose-content.ts'
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
    if (!isAcceptedMedia(message.type, facts.mime))
      throw new MediaError('media_type_mismatch', { detail: describeMisfit(message.type, facts.mime) })
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
        ...sizeOf(facts),
        ...secondsOf(facts),
        ...caption,
      }
    case 'audio':
      return { audio: { stream }, mimetype: mime ?? 'audio/mpeg', seconds: facts.seconds ?? 0 }
    case 'document':
      return {
        document: { stream },
        ...describeDocument(file, { mime, extension, text: facts.text }),
        ...caption,
      }
  }
}

/** Its type and name, by all that is known of it. */
function describeDocument({ said }: MediaFile, signs: FileSigns): { mimetype: string; fileName: string } {
  const type = weighType({ signs, ...said })
  const name = findName(said.names)
  const hint = findName(said.hints)
  const fileName =
    name || !hint
      ? completeFilename(name ?? 'file', type, { signs })
      : completeFilename(hint, type, { signs, isHint: true })
  return { mimetype: type.mime, fileName }
}

const findName = (names: string[]) => names.map(cleanFilename).find((name) => name !== undefined)

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
