import { randomUUID } from 'node:crypto'
import type { Database } from '@wagate/db/client'
import type { NewMessage } from '@wagate/db/queries/accept-messages'
import {
  deleteEndedMedia,
  deleteMediaParts,
  hasRoomForMedia,
  storeMediaPart,
} from '@wagate/db/queries/waiting-media'
import { LRUCache } from 'lru-cache'
import type { AppError } from '../errors/app-error.ts'
import type { Deadline } from '../http/deadline.ts'
import { inSlices } from '../http/in-slices.ts'
import type { InlineFile } from '../media/parse-media-url.ts'
import { mediaFull } from './send-errors.ts'

type UploadedMedia = NonNullable<NewMessage['media']>

/** Files that came with requests and wait in Postgres until they are sent. */
export type InlineMedia = {
  findRoomFault(accountId: number, file: InlineFile): Promise<AppError | undefined>
  /** Uploads the file in parts for `store`, which attaches them to a message. */
  upload<Result>(
    accountId: number,
    file: InlineFile,
    deadline: Deadline,
    store: (media: UploadedMedia) => Promise<Result>,
  ): Promise<Result>
}

/** How often the files of an account's ended messages are cleaned up, at most. */
const cleanEveryMs = 10_000

export function makeInlineMedia(db: Database, { bytesMax }: { bytesMax: number }): InlineMedia {
  const recentlyCleaned = new LRUCache<number, true>({ max: 10_000, ttl: cleanEveryMs })

  return {
    async findRoomFault(accountId, { bytes }) {
      const hasRoom = () => hasRoomForMedia(db, { accountId, bytes, bytesMax })
      if (await hasRoom()) return undefined
      if (recentlyCleaned.has(accountId)) return mediaFull()
      recentlyCleaned.set(accountId, true)
      return (await deleteEndedMedia(db, accountId)) && (await hasRoom()) ? undefined : mediaFull()
    },
    async upload(accountId, { mime, bytes, base64 }, deadline, store) {
      const upload = { accountId, uploadId: randomUUID() }
      try {
        let position = 0
        for await (const slice of inSlices(base64)) {
          deadline.signal.throwIfAborted()
          await storeMediaPart(db, { ...upload, position: position++, base64: slice })
        }
        return await store({ mime, bytes, uploadId: upload.uploadId })
      } finally {
        // In the background: housekeeping deletes the rest if this fails.
        deleteMediaParts(db, upload).catch(() => undefined)
      }
    },
  }
}
