import { randomUUID } from 'node:crypto'
import type { Database } from '@wagate/db/client'
import {
  deleteEndedMedia,
  deleteMediaParts,
  hasRoomForMedia,
  storeMediaPart,
} from '@wagate/db/queries/media/waiting-media'
import type { NewMedia } from '@wagate/db/queries/messages/accept-messages'
import { LRUCache } from 'lru-cache'
import type { AppError } from '../errors/app-error.ts'
import type { Deadline } from '../http/deadline.ts'
import { inSlices } from '../http/in-slices.ts'
import type { InlineFile } from '../media/parse-media-url.ts'
import { mediaFull } from './send-errors.ts'

/** Files that came with requests and wait in Postgres until they are sent. */
export type InlineMedia = {
  findRoomFault(accountId: number, file: InlineFile): Promise<AppError | undefined>
  /** Gives `store` the file for its message; a large one is uploaded in parts before. */
  upload<Result>(
    accountId: number,
    file: InlineFile,
    deadline: Deadline,
    store: (media: NewMedia) => Promise<Result>,
  ): Promise<Result>
}

/**
 * Up to here, the statement that accepts the message carries the file. Writing a longer one in one piece would block this
 * process for tens of milliseconds.
 */
const wholeBytesMax = 4 * 2 ** 20

/** How often the files of an account's ended messages are cleaned up, at most. */
const cleanEveryMs = 10_000

export function makeInlineMedia(db: Database, { bytesMax }: { bytesMax: number }): InlineMedia {
  const recentlyCleaned = new LRUCache<number, true>({ max: 10_000, ttl: cleanEveryMs })

  return {
    async findRoomFault(accountId, { content }) {
      const hasRoom = () => hasRoomForMedia(db, { accountId, bytes: content.length, bytesMax })
      if (await hasRoom()) return undefined
      if (recentlyCleaned.has(accountId)) return mediaFull()
      recentlyCleaned.set(accountId, true)
      return (await deleteEndedMedia(db, accountId)) && (await hasRoom()) ? undefined : mediaFull()
    },
    async upload(accountId, { mime, content }, deadline, store) {
      const bytes = content.length
      if (bytes <= wholeBytesMax) return store({ mime, bytes, content })
      const upload = { accountId, uploadId: randomUUID() }
      try {
        let position = 0
        for await (const slice of inSlices(content)) {
          deadline.signal.throwIfAborted()
          await storeMediaPart(db, { ...upload, position: position++, bytes: slice })
        }
        return await store({ mime, bytes, uploadId: upload.uploadId })
      } finally {
        // In the background: housekeeping deletes the rest if this fails.
        deleteMediaParts(db, upload).catch(() => undefined)
      }
    },
  }
}
