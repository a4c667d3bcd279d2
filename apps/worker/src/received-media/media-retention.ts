import type { Database } from '@wagate/db/client'
import {
  deleteOldMediaRows,
  expireContent,
  listExpiredContents,
} from '@wagate/db/queries/media/media-content'
import { deleteUpload, listUnneededUploads } from '@wagate/db/queries/media/uploaded-media'
import type { MediaStore } from '@wagate/media-store/media-store'
import type { Logger } from '@wagate/runtime/logger'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { removeAccountFiles } from './account-files.ts'

type Retention = {
  /** Of files. */
  mediaDays: number
  /** Of messages, and so of what is known of their files. */
  messageDays: number
  /** How long an accepted message may wait, after its time has come. */
  waitingMs: number
}

const everyMs = 3_600_000
const accountsEveryMs = 60_000
const atOnceMax = 200
/** For a message whose last attempt has begun. */
const retentionMarginMs = 3_600_000

/**
 * Removes the files of old messages, and uploaded ones that have expired, every hour, and those of accounts that are being
 * deleted every minute. All workers may do it at a time.
 */
export function startMediaRetention(
  db: Database,
  mediaStore: MediaStore,
  logger: Logger,
  retention: Retention,
): Running {
  const stopping = new AbortController()
  const run = makeSingleFlight(
    async () => {
      const removed = await expireMedia(db, mediaStore, retention, stopping.signal)
      if (removed > 0) logger.info({ removed }, 'Removed files past retention')
    },
    (err) => logger.warn({ err }, 'Removing old files failed, will retry'),
  )
  run()
  const removeOfAccounts = makeSingleFlight(
    async () => {
      const removed = await removeAccountFiles(db, mediaStore, stopping.signal)
      if (removed > 0) logger.info({ removed }, 'Removed files of deleted accounts')
    },
    (err) => logger.warn({ err }, 'Removing the files of deleted accounts failed, will retry'),
  )
  removeOfAccounts()
  const timers = [setInterval(run, everyMs), setInterval(removeOfAccounts, accountsEveryMs)]
  return {
    async close() {
      stopping.abort()
      for (const timer of timers) clearInterval(timer)
    },
  }
}

/** Returns the number of files that have expired. */
export async function expireMedia(
  db: Database,
  mediaStore: MediaStore,
  { mediaDays, messageDays, waitingMs }: Retention,
  signal?: AbortSignal,
): Promise<number> {
  let expired = 0
  for (let isLast = false; !isLast && !signal?.aborted; ) {
    const contents = await listExpiredContents(db, { retentionDays: mediaDays, max: atOnceMax })
    for (const content of contents) {
      if (signal?.aborted) return expired
      await expireContent(db, content, mediaDays, () => mediaStore.remove(content))
    }
    expired += contents.length
    isLast = contents.length === 0
  }
  await mediaStore.removeLeftovers()
  let deleted = atOnceMax
  while (deleted === atOnceMax && !signal?.aborted) {
    deleted = await deleteOldMediaRows(db, { retentionDays: messageDays, max: atOnceMax })
  }
  return expired + (await removeUploads(db, mediaStore, waitingMs, signal))
}

/** The file first: after a crash in between, the row makes it known. */
async function removeUploads(
  db: Database,
  mediaStore: MediaStore,
  waitingMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0
  for (let isLast = false; !isLast && !signal?.aborted; ) {
    const uploads = await listUnneededUploads(db, { keptMs: waitingMs + retentionMarginMs, max: atOnceMax })
    for (const { accountId, mediaId, sha256 } of uploads) {
      if (signal?.aborted) return removed
      await mediaStore.remove({ accountId, sha256, uploadId: mediaId })
      await deleteUpload(db, { accountId, mediaId })
      removed += 1
    }
    isLast = uploads.length < atOnceMax
  }
  return removed
}
