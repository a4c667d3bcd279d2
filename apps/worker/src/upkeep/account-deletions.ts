import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import { hasFiles } from '@wagate/db/queries/retention/account-files'
import {
  beginAccountDeletion,
  deleteRows,
  finishAccountDeletion,
  listDeletionSteps,
  listDueDeletions,
  listReadyDeletions,
} from '@wagate/db/queries/retention/account-removal'
import type { Logger } from '@wagate/runtime/logger'

/** The pause between two batches, in which other statements and vacuum run. */
const pauseMs = 50

/**
 * Deletes what is left of accounts whose deletion is due, as far as that is possible now: a later call continues. Needs a role
 * that owns the tables. Their files are deleted by workers (account-files.ts).
 */
export async function deleteDueAccounts(db: Database, logger: Logger, signal: AbortSignal): Promise<void> {
  for (const accountId of await listDueDeletions(db)) {
    if (signal.aborted) return
    await beginAccountDeletion(db, accountId)
  }
  for (const accountId of await listReadyDeletions(db)) {
    if (!(await deleteAllRows(db, accountId, signal)) || (await hasFiles(db, accountId))) continue
    // Its last rows were deleted by now, unless a file or a row came meanwhile.
    if ((await deletePass(db, accountId, signal)) > 0 || signal.aborted) continue
    if (await finishAccountDeletion(db, accountId)) logger.info({ accountId }, 'Deleted an account')
  }
}

/** False when it was stopped. */
async function deleteAllRows(db: Database, accountId: number, signal: AbortSignal): Promise<boolean> {
  while ((await deletePass(db, accountId, signal)) > 0) if (signal.aborted) return false
  return !signal.aborted
}

/** Returns how many rows there were. */
async function deletePass(db: Database, accountId: number, signal: AbortSignal): Promise<number> {
  let rows = 0
  for (const step of await listDeletionSteps(db)) {
    for (let isLast = false; !isLast && !signal.aborted; ) {
      const deleted = await deleteRows(db, accountId, step)
      rows += deleted
      isLast = deleted < step.max
      if (!isLast) await delay(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return rows
}
