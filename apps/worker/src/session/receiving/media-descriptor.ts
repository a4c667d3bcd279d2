import { cleanFilename } from '@wagate/shared/file-names'
import type { WAMessageKey } from 'baileys'
import { isWhatsAppUrl } from '../network/whatsapp-route.ts'
import type { DescribedFile, MessageFile } from './kinds/read-kind.ts'
import type { MediaSource } from './media-source.ts'

/** What a message says of its file. The sender may be anyone, so nothing of it is known to be true. */
export type MediaDescriptor = {
  kind: MediaSource['kind']
  declaredMime: string | null
  filename: string | null
  size: number | null
  sha256: Buffer | null
  /** Null when it lacks something without which the file cannot be downloaded and verified. */
  source: MediaSource | null
}

const mediaHost = 'https://mmg.whatsapp.net'
const mimeCharsMax = 100
const pathCharsMax = 2000

export function readMediaDescriptor({ kind, described }: MessageFile, key: WAMessageKey): MediaDescriptor {
  const sha256 = readBytes(described.fileSha256, 32)
  const mediaKey = readBytes(described.mediaKey, 32)
  const size = readSize(described.fileLength)
  const path = readPath(described)
  const { id: waId, remoteJid: chatJid } = key
  const own = key.fromMe ? { isOwn: true } : {}
  const isComplete = sha256 && mediaKey && size !== null && path && waId && chatJid
  return {
    kind,
    declaredMime: readMime(described.mimetype),
    filename: cleanFilename(described.fileName) ?? null,
    size,
    sha256,
    source: isComplete ? { kind, path, mediaKey: mediaKey.toString('base64'), waId, chatJid, ...own } : null,
  }
}

function readBytes(given: Uint8Array | null | undefined, length: number): Buffer | null {
  return given?.length === length ? Buffer.from(given) : null
}

function readSize(given: DescribedFile['fileLength']): number | null {
  const size = Number(given ?? 0)
  return Number.isSafeInteger(size) && size > 0 ? size : null
}

/** Only of WhatsApp's hosts. The path is used on the media host, whichever of them the sender names. */
function readPath({ directPath, url }: DescribedFile): string | null {
  const given = directPath ? `${mediaHost}${directPath}` : url
  if (!given || given.length > pathCharsMax || !URL.canParse(given)) return null
  const parsed = new URL(given)
  return isWhatsAppUrl(parsed) ? parsed.pathname + parsed.search : null
}

/** The URL of a path from a descriptor or from a phone. Undefined when the path would lead to another host. */
export function mediaUrlOf(path: string): URL | undefined {
  const url = `${mediaHost}${path}`
  if (!path.startsWith('/') || !URL.canParse(url)) return undefined
  const parsed = new URL(url)
  return parsed.origin === mediaHost && isWhatsAppUrl(parsed) ? parsed : undefined
}

function readMime(given: string | null | undefined): string | null {
  const mime = given?.split(';')[0]?.trim().toLowerCase() ?? ''
  return mime.length <= mimeCharsMax && /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : null
}
