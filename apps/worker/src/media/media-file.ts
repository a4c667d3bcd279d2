import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Database } from '@wagate/db/client'
import { findMediaBlob, findMediaBlobPart } from '@wagate/db/queries/media/media-blobs'
import { findUpload } from '@wagate/db/queries/media/uploaded-media'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { MediaStore } from '@wagate/media-store/media-store'
import type { HostNames } from '@wagate/runtime/host-names'
import type { MediaType } from '@wagate/shared/message-kinds'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { uploadOfUrl } from '@wagate/shared/uploaded-media'
import type { Config } from '../config/config.ts'
import { fetchMedia } from './fetch-media.ts'
import { type FileSayings, sayingsOfHost } from './file-sayings.ts'
import { MediaError, MediaUnavailable } from './media-error.ts'
import { type MediaRoom, makeMediaRoom } from './media-room.ts'
import type { MediaShares } from './media-shares.ts'

export type MediaSource = {
  config: Pick<Config, 'media'>
  db: Database
  media: { shares: MediaShares; hostNames: HostNames; store: Pick<MediaStore, 'read'> }
  device: { id: number; accountId: number }
}

export type MediaMessage = Pick<WaitingMessage, 'id' | 'body' | 'url' | 'filename'> & { type: MediaType }

/** A file in the worker's private folder, with the reservation for its bytes. */
export type MediaFile = {
  path: string
  said: FileSayings
  remove(): Promise<void>
}

const fetchDeadlineMs = 15_000
/** Per read: Postgres sends twice as many characters, within the time limit of one statement. */
const partBytes = 512 * 1024

/** Gets the bytes behind a message's URL. Throws MediaError or MediaUnavailable. */
export async function makeMediaFile(source: MediaSource, message: MediaMessage): Promise<MediaFile> {
  const path = join(tmpdir(), `media-${randomUUID()}`)
  const room = makeMediaRoom(source.media.shares.bytes, String(source.device.accountId))
  async function remove(): Promise<void> {
    // The reservation ends when the file is gone.
    await rm(path, { force: true }).finally(room.release)
  }
  try {
    const said = await getFile(source, message, path, room)
    const names = message.filename === null ? said.names : [message.filename, ...said.names]
    return { path, said: { ...said, names }, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function getFile(
  source: MediaSource,
  message: MediaMessage,
  path: string,
  room: MediaRoom,
): Promise<FileSayings> {
  const mediaId = uploadOfUrl(message.url)
  if (mediaId !== undefined) return claimed(await copyUpload(source, mediaId, path, room))
  if (message.url?.startsWith('data:')) return claimed(await copyBlob(source.db, message.id, path, room))
  return fetchToFile(source, message, path, room)
}

/** The API has weighed what was said of the file when it came. */
const claimed = (mime: string): FileSayings => ({ names: [], claims: [mime], hints: [] })

async function copyUpload(
  { db, media, device: { accountId } }: MediaSource,
  mediaId: string,
  path: string,
  room: MediaRoom,
): Promise<string> {
  const upload = await findUpload(db, { accountId, mediaId }, 'accepted')
  if (!upload) throw new MediaError('upload_not_found')
  if (!room.tryGrow(upload.size)) await room.wait(upload.size)
  try {
    const stored = await media.store.read({ accountId, sha256: upload.sha256, uploadId: mediaId })
    if (!stored) throw new MediaError('upload_not_found')
    await pipeline(stored, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  } catch (error) {
    if (error instanceof MediaError) throw error
    throw new MediaUnavailable('upload_unavailable', { cause: error, isOfHost: false })
  }
  if ((await stat(path)).size !== upload.size)
    throw new MediaUnavailable('upload_unavailable', { isOfHost: false })
  return upload.mime
}

async function fetchToFile(
  { config, media: { shares, hostNames }, device }: MediaSource,
  { type, url }: MediaMessage,
  path: string,
  room: MediaRoom,
): Promise<FileSayings> {
  const limits = {
    bytesMax: config.media.bytesMax[type],
    deadlineMs: fetchDeadlineMs,
    isForbidden: config.media.allowsPrivateHosts ? () => false : isForbiddenAddress,
    room,
    lookup: hostNames.ofOwner(String(device.accountId)),
  }
  const { headers, urls } = await shares.slowHosts.visit(device.id, url ?? '', async () => {
    const release = await shares.fetches.acquire(String(device.accountId), 1)
    return fetchMedia(url ?? '', path, limits).finally(release)
  })
  return sayingsOfHost(headers, urls)
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
