import { createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { WhatsAppFetch } from '../session/network/whatsapp-fetch.ts'
import { mediaUrlOf } from '../session/receiving/media-descriptor.ts'
import type { MediaSource } from '../session/receiving/media-source.ts'
import { MediaGone, MediaLost } from './media-failure.ts'

type Wanted = {
  source: MediaSource
  size: number
  /** Hex, of the decrypted file. */
  sha256: string
}

const goneStatuses = [403, 404, 410]

/**
 * Downloads a file to a path, decrypted and verified. Throws MediaGone when WhatsApp no longer has it, MediaLost when it is
 * not the file that the message describes, and other errors when it may be had later.
 */
export async function downloadMedia(
  fetchMedia: WhatsAppFetch,
  { source, size, sha256 }: Wanted,
  path: string,
): Promise<void> {
  const url = mediaUrlOf(source.path)
  if (!url) throw new MediaLost('download_failed')
  const response = await fetchMedia(url)
  if (goneStatuses.includes(response.status)) throw new MediaGone()
  if (!response.ok || !response.body) throw new Error(`WhatsApp answered with status ${response.status}`)
  const hash = createHash('sha256')
  const file = await open(path, 'w', 0o600)
  try {
    let received = 0
    for await (const piece of decryptMedia(response.body, source)) {
      received += piece.length
      if (received > size) throw new MediaLost('hash_mismatch')
      hash.update(piece)
      await file.appendFile(piece)
    }
    if (received !== size || hash.digest('hex') !== sha256) throw new MediaLost('hash_mismatch')
  } finally {
    await file.close()
  }
}

const macBytes = 10
const keyNames: Record<MediaSource['kind'], string> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
}

/**
 * Decrypts a file as it arrives: AES-256-CBC, followed by ten bytes of HMAC-SHA256. The pieces are not verified before the
 * last one: discard them all when this throws.
 */
export async function* decryptMedia(
  pieces: AsyncIterable<Uint8Array>,
  { kind, mediaKey }: Pick<MediaSource, 'kind' | 'mediaKey'>,
): AsyncGenerator<Buffer> {
  const keys = Buffer.from(hkdfSync('sha256', Buffer.from(mediaKey, 'base64'), '', keyNames[kind], 112))
  const iv = keys.subarray(0, 16)
  const decipher = createDecipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
  const hmac = createHmac('sha256', keys.subarray(48, 80)).update(iv)
  let tail: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const all = Buffer.concat([tail, piece])
    const body = all.subarray(0, Math.max(0, all.length - macBytes))
    tail = all.subarray(body.length)
    hmac.update(body)
    yield decipher.update(body)
  }
  const mac = hmac.digest().subarray(0, macBytes)
  if (tail.length !== macBytes || !timingSafeEqual(mac, tail)) throw new MediaLost('hash_mismatch')
  yield lastBlock(decipher)
}

function lastBlock(decipher: ReturnType<typeof createDecipheriv>): Buffer {
  try {
    return decipher.final()
  } catch (cause) {
    throw new MediaLost('hash_mismatch', { cause })
  }
}
