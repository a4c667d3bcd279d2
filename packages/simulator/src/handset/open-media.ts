import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { getMediaKeys, type MediaType } from 'baileys'
import type { Network } from '../network/network.ts'
import { findFile } from './find-file.ts'

const macBytes = 10

/** The media fields that all kinds of media messages share. */
export type MediaReference = {
  directPath?: string | null
  mediaKey?: Uint8Array | null
  fileSha256?: Uint8Array | null
  fileEncSha256?: Uint8Array | null
}

/** Clients append a query to it. */
export const pathOf = (directPath: string): string => directPath.split('?')[0] ?? ''

/** Fetches and decrypts like a phone. Undefined when the file has expired, or a checksum or size is wrong. */
export async function openMedia(
  network: Network,
  type: MediaType,
  media: MediaReference,
): Promise<{ sha256: string; size: number } | undefined> {
  const file = findFile(network, pathOf(media.directPath ?? ''))
  if (typeof file === 'number' || !media.mediaKey || file.length <= macBytes) return undefined
  if (!isHash(media.fileEncSha256, file)) return undefined
  const plaintext = await decryptMedia(file, { type, mediaKey: media.mediaKey })
  if (!plaintext || !isHash(media.fileSha256, plaintext)) return undefined
  return { sha256: createHash('sha256').update(plaintext).digest('hex'), size: plaintext.length }
}

/** The file behind a ciphertext of the media host. Undefined when the key does not fit. */
export async function decryptMedia(
  file: Buffer,
  { type, mediaKey }: { type: string; mediaKey: Uint8Array },
): Promise<Buffer | undefined> {
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, type as MediaType)
  if (!iv || !cipherKey || !macKey) return undefined
  const ciphertext = file.subarray(0, -macBytes)
  const mac = createHmac('sha256', macKey).update(iv).update(ciphertext).digest().subarray(0, macBytes)
  if (!timingSafeEqual(mac, file.subarray(-macBytes))) return undefined
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}

function isHash(expected: Uint8Array | null | undefined, bytes: Buffer): boolean {
  return !!expected && createHash('sha256').update(bytes).digest().equals(expected)
}
