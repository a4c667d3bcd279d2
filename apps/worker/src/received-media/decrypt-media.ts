import { createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MediaSource } from '../session/receiving/media-source.ts'
import { MediaLost } from './media-failure.ts'

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
