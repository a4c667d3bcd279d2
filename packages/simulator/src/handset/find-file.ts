import type { Network } from '../network/network.ts'

/** A file on the media host, or the HTTP status with which it is refused. */
export function findFile({ media, faults }: Network, path: string): Buffer | number {
  const file = media.get(path)
  if (!file) return 404
  const expired = faults.find('media_expire')
  const garbled = faults.find('media_garble')
  if (garbled && file.addedAtMs <= garbled.startedAtMs) return Buffer.from(file.body).fill(0, 0, 16)
  return expired && file.addedAtMs <= expired.startedAtMs ? Number(expired.code) : file.body
}
