import { findDeletionByProof } from '@wagate/db/queries/retention/account-deletions'
import { z } from 'zod'
import { definePublicOperation } from '../calls/operation.ts'
import { hashApiKey } from '../credentials/api-key.ts'
import { AppError } from '../errors/app-error.ts'

const states = ['waiting', 'deleting', 'deleted'] as const
const moment = z.iso.datetime()

export const deletionProof = definePublicOperation({
  name: 'deletion-proof',
  summary: 'Return how far the deletion of an account is',
  changes: false,
  parameters: z.object({
    proof: z
      .string({ error: 'must be text' })
      .max(1000, 'must be the proof from delete-account')
      .describe('From `delete-account`'),
  }),
  fields: z.object({
    account_id: z.int().describe('ID of the account'),
    state: z
      .enum(states)
      .describe('`waiting`: it is not due yet, or has not begun. `deleted`: nothing is left'),
    requested_at: moment,
    due_at: moment.describe('Time from which everything is deleted'),
    finished_at: moment.nullable().describe('When nothing was left; null before'),
    deleted: z.record(z.string(), z.int()).describe('How much was deleted so far, by kind'),
  }),
  errors: ['proof_not_found'],
  example: {
    given: { proof: 'wag_proof_…' },
    answer: {
      account_id: 12,
      state: 'deleted',
      requested_at: '2026-01-31T11:50:00.000Z',
      due_at: '2026-02-07T11:50:00.000Z',
      finished_at: '2026-02-07T11:53:20.000Z',
      deleted: { messages: 120, events: 361, devices: 1, keys: 2 },
    },
  },
  async handle({ proof }, { context }) {
    const found = await findDeletionByProof(context.db, hashApiKey(proof))
    if (!found) throw new AppError('proof_not_found', 'There is no deletion with this proof.')
    const { accountId, requestedAt, dueAt, finishedAt, deleted } = found
    const hasBegun = Object.keys(deleted).length > 0
    return {
      account_id: accountId,
      state: finishedAt ? ('deleted' as const) : hasBegun ? ('deleting' as const) : ('waiting' as const),
      requested_at: requestedAt.toISOString(),
      due_at: dueAt.toISOString(),
      finished_at: finishedAt?.toISOString() ?? null,
      deleted,
    }
  },
})
