import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '@wagate/db/client'
import { findMediaBlob, findMediaBlobPart } from '@wagate/db/queries/media-blobs'
import type { WaitingMessage } from '@wagate/db/queries/waiting-messages'
import type { HostNames } from '@wagate/runtime/host-names'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import type { MediaType } from '@wagate/shared/statuses'
import type { Config } from '../config.ts'
import { fetchMedia } from './fetch-media.ts'
import { MediaError } from './media-error.ts'
import { type MediaRoom, makeMediaRoom } from './media-room.ts'
import type { MediaShares } from './media-shares.ts'

export type MediaSource = {
  config: Config
  db: Database
  mediaShares: MediaShares
  hostNames: HostNames
  device: { id: number; accountId: number }
}

export type MediaMessage = Pick<WaitingMessage, 'id' | 'body' | 'url' | 'filename'> & { type: MediaType }

/** A file in the worker's private folder, with the reservation for its bytes. */
export type MediaFile = {
  path: string
  /** The type that a data: URL claims. */
  claimedMime: string | undefined
  remove(): Promise<void>
}

const fetchDeadlineMs = 15_000
/** Per read: Postgres sends twice as many characters, within the time limit of one statement. */
const partBytes = 512 * 1024

/** Gets the bytes behind a message's URL. Throws MediaError or MediaUnavailable. */
export async function makeMediaFile(source: MediaSource, message: MediaMessage): Promise<MediaFile> {
  const path = join(tmpdir(), `media-${randomUUID()}`)
  const room = makeMediaRoom(source.mediaShares.bytes, String(source.device.accountId))
  async function remove(): Promise<void> {
    // The reservation ends when the file is gone.
    await rm(path, { force: true }).finally(room.release)
  }
  try {
    const claimedMime = message.url?.startsWith('data:')
      ? await copyBlob(source.db, message.id, path, room)
      : await fetchToFile(source, message, path, room)
    return { path, claimedMime, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function fetchToFile(
  { config, mediaShares, hostNames, device }: MediaSource,
  { type, url }: MediaMessage,
  path: string,
  room: MediaRoom,
): Promise<undefined> {
  const limits = {
    bytesMax: config.media.bytesMax[type],
    deadlineMs: fetchDeadlineMs,
    isForbidden: config.media.allowsPrivateHosts ? () => false : isForbiddenAddress,
    room,
    lookup: hostNames.ofOwner(String(device.accountId)),
  }
  await mediaShares.slowHosts.visit(device.id, url ?? '', async () => {
    const release = await mediaShares.fetches.acquire(String(device.accountId), 1)
    await fetchMedia(url ?? '', path, limits).finally(release)
  })
}

async function copyBlob(db: Database, messageId: string, path: string, room: MediaRoom): Promise<string> {
  const blob = await findMediaBlob(db, messageId)
  if (!blob) throw new MediaError('invalid_media')
  if (!room.tryGrow(blob.size)) await room.wait(blob.size)
  const handle = await open(path, 'w', 0o600)
  try {
    for (let start = 0; start < blob.size; start += partBytes) {
      const part = await findMediaBlobPart(db, messageId, { start, length: partBytes })
      // The message was canceled in the meantime.
      if (!part) throw new MediaError('invalid_media')
      await handle.appendFile(part)
    }
    return blob.mime
  } finally {
    await handle.close()
  }
}
