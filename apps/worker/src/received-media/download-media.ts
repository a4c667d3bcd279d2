import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { WhatsAppFetch } from '../session/network/whatsapp-fetch.ts'
import { mediaUrlOf } from '../session/receiving/media-descriptor.ts'
import type { MediaSource } from '../session/receiving/media-source.ts'
import { decryptMedia } from './decrypt-media.ts'
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
