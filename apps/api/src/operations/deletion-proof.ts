import { findDeletionByProof } from '@wagate/db/queries/retention/account-deletions'
import { z } from 'zod'
import { definePublicOperation } from '../calls/operation.ts'
import { hashApiKey } from '../credentials/api-key.ts'
import { AppError } from '../errors/app-error.ts'
import { deletionFields, toDeletionFields } from '../objects/deletion-object.ts'

export const deletionProof = definePublicOperation({
  name: 'deletion-proof',
  summary: 'Return how far the deletion of an account is',
  changes: false,
  parameters: z.object({
    proof: z
      .string({ error: 'must be text' })
      .max(1000, 'must be the proof from delete-account or delete-user')
      .describe('From `delete-account` or `delete-user`'),
  }),
  fields: z.object({
    account_id: z.int().describe('ID of the account'),
    ...deletionFields,
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
    return { account_id: found.accountId, ...toDeletionFields(found), deleted: found.deleted }
  },
})
