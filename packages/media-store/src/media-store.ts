import type { Readable } from 'node:stream'

/**
 * A file of an account. The file of a received message is named by the SHA-256 (hex) of its bytes: files with the same bytes
 * are one. An uploaded one has the name of its upload, a UUID.
 */
export type MediaContent = { accountId: number; sha256: string; uploadId?: string }

/** Offsets of the first and the last byte. */
export type ByteRange = { first: number; last: number }

export type MediaStore = {
  /**
   * Copies a local file into the store. It appears as a whole or not at all, and survives a crash of the machine once
   * this resolves.
   */
  put(content: MediaContent, file: { path: string; size: number }): Promise<void>
  has(content: MediaContent): Promise<boolean>
  /** Resolves when the first bytes can be read; undefined when there is no such file. */
  read(content: MediaContent, range?: ByteRange): Promise<Readable | undefined>
  /** Does nothing when there is no such file. */
  remove(content: MediaContent): Promise<void>
  /** A folder of this machine for files before they are put, which `removeLeftovers` cleans up if it is the store's. */
  stagingFolder(): Promise<string>
  /** Removes what processes left that were killed while they wrote. */
  removeLeftovers(): Promise<void>
}

/** The name of a file in the store. Both parts are checked: a name that leaves the folder of its account is impossible. */
export function keyOf({ accountId, sha256, uploadId }: MediaContent): string {
  if (!Number.isSafeInteger(accountId) || accountId < 1) throw new TypeError('The account has no valid id')
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('The SHA-256 of a file is not hexadecimal')
  if (uploadId !== undefined) {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uploadId))
      throw new TypeError('The id of an upload is no UUID')
    return `${accountId}/uploads/${uploadId}`
  }
  return `${accountId}/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
}
