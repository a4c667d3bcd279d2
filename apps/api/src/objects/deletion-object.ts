import type { AccountDeletion } from '@wagate/db/queries/retention/account-deletions'
import { z } from 'zod'

const moment = z.iso.datetime()

/** How far the deletion of an account is. */
export const deletionFields = {
  state: z
    .enum(['waiting', 'deleting', 'deleted'])
    .describe('`waiting`: it is not due yet, or has not begun. `deleted`: nothing is left'),
  requested_at: moment,
  due_at: moment.describe('Time from which everything is deleted'),
  finished_at: moment.nullable().describe('When nothing was left; null before'),
}

export function toDeletionFields({ requestedAt, dueAt, finishedAt, deleted }: AccountDeletion) {
  const hasBegun = Object.keys(deleted).length > 0
  return {
    state: finishedAt ? ('deleted' as const) : hasBegun ? ('deleting' as const) : ('waiting' as const),
    requested_at: requestedAt.toISOString(),
    due_at: dueAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
  }
}
