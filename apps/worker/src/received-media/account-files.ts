import type { Database } from '@wagate/db/client'
import {
  deleteAccountFile,
  deleteAccountUpload,
  type FilePosition,
  firstFile,
  listAccountUploads,
  scanAccountFiles,
} from '@wagate/db/queries/retention/account-files'
import { listReadyDeletions } from '@wagate/db/queries/retention/account-removal'
import type { MediaStore } from '@wagate/media-store/media-store'

const uploadsAtOnce = 200

/** Removes the files of accounts that are being deleted, and their rows. Returns how many. Several workers may do it at a time. */
export async function removeAccountFiles(
  db: Database,
  mediaStore: MediaStore,
  signal?: AbortSignal,
): Promise<number> {
  const accountIds = await listReadyDeletions(db)
  if (accountIds.length === 0) return 0
  let removed = 0
  for (let next: FilePosition | undefined = firstFile; next && !signal?.aborted; ) {
    const scanned: Awaited<ReturnType<typeof scanAccountFiles>> = await scanAccountFiles(db, accountIds, next)
    for (const file of scanned.files) {
      if (signal?.aborted) return removed
      await deleteAccountFile(db, file, mediaStore.remove)
      removed += 1
    }
    next = scanned.next
  }
  for (let isLast = false; !isLast && !signal?.aborted; ) {
    const uploads = await listAccountUploads(db, accountIds, uploadsAtOnce)
    for (const upload of uploads) {
      if (signal?.aborted) return removed
      await mediaStore.remove({
        accountId: upload.accountId,
        sha256: upload.sha256,
        uploadId: upload.mediaId,
      })
      await deleteAccountUpload(db, upload)
      removed += 1
    }
    isLast = uploads.length < uploadsAtOnce
  }
  return removed
}
