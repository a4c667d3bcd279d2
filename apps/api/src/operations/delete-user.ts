import { z } from 'zod'
import { requestDeletion } from '../accounts/request-deletion.ts'
import { defineOperation } from '../calls/operation.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { deletionFields, toDeletionFields } from '../objects/deletion-object.ts'
import { recordId } from '../parameters/parameter-types.ts'

export const deleteUser = defineOperation({
  name: 'delete-user',
  summary:
    'Disable the account of a user at once, and delete everything that it has once the deletion is due. Repeating the request says how far it is',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    user_id: recordId.describe('ID from users. Your own account is deleted by `delete-account`'),
  }),
  fields: z.object({
    user_id: z.int(),
    requested: z.boolean().describe('False if the deletion had been requested before: nothing changes'),
    ...deletionFields,
    due_at: deletionFields.due_at.describe(
      'Time from which everything is deleted. Until then, `update-user` with `disabled=false` cancels it',
    ),
    proof: z
      .string()
      .optional()
      .describe(
        'Shows the progress of the deletion with `deletion-proof`, without an API key. Returned once, by the request that begins it',
      ),
  }),
  errors: ['user_not_found', 'last_admin'],
  example: {
    given: { user_id: 12 },
    answer: {
      user_id: 12,
      requested: true,
      state: 'waiting',
      requested_at: '2026-01-31T11:50:00.000Z',
      due_at: '2026-02-07T11:50:00.000Z',
      finished_at: null,
      proof: 'wag_proof_…',
    },
  },
  async handle({ user_id }, call) {
    if (user_id === call.principal.accountId) {
      throw invalidParameter(
        'user_id',
        'is your own account. delete-account deletes it, and asks for its password',
      )
    }
    const { deletion, proof } = await requestDeletion(call, user_id)
    if (proof === undefined) call.warn('The deletion of this account had been requested before.')
    return {
      user_id,
      requested: proof !== undefined,
      ...toDeletionFields(deletion),
      ...(proof !== undefined && { proof }),
    }
  },
})
