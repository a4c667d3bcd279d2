import type { PasswordHolder } from '@wagate/db/queries/accounts/accounts'
import { z } from 'zod'
import { accountDeleting } from '../accounts/account-errors.ts'
import { checkOwnPassword } from '../accounts/check-password.ts'
import { requestDeletion } from '../accounts/request-deletion.ts'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { password } from '../credentials/passwords.ts'
import { AppError } from '../errors/app-error.ts'
import { recordId } from '../parameters/parameter-types.ts'
import { requireAny } from '../parameters/require-any.ts'

export const deleteAccount = defineOperation({
  name: 'delete-account',
  summary: 'Disable an account at once, and delete everything that it has once the deletion is due',
  methods: ['POST'],
  changes: true,
  admitsExpired: true,
  parameters: z.object({
    password: password.optional().describe('The password of your own account, which is deleted'),
    user_id: recordId
      .optional()
      .describe(
        'Another account, which requires an ADMIN and no password. `delete-user` does the same, and can be repeated',
      ),
  }),
  fields: z.object({
    account_id: z.int().describe('ID of the account'),
    due_at: z.iso
      .datetime()
      .describe('Time from which it is deleted. Until then, `update-user` with `disabled=false` cancels it'),
    proof: z
      .string()
      .describe(
        'Shows the progress of the deletion with `deletion-proof`, without an API key. Returned once',
      ),
  }),
  errors: [
    'missing_parameter',
    'admin_required',
    'wrong_password',
    'user_not_found',
    'last_admin',
    'account_deleting',
  ],
  example: {
    given: { password: 'correct horse battery' },
    answer: { account_id: 12, due_at: '2026-02-07T11:50:00.000Z', proof: 'wag_proof_…' },
  },
  async handle(given, call) {
    const { accountId, owner } = await getDeletable(given, call)
    const { deletion, proof } = await requestDeletion(call, accountId, owner)
    if (proof === undefined) throw accountDeleting()
    return { account_id: accountId, due_at: deletion.dueAt.toISOString(), proof }
  },
})

/** Throws `admin_required`, `missing_parameter` or `wrong_password`. */
async function getDeletable(
  { user_id, password }: { user_id?: number | undefined; password?: string | undefined },
  call: Call,
): Promise<{ accountId: number; owner?: PasswordHolder }> {
  const { accountId, role } = call.principal
  if (user_id === undefined) requireAny({ password, user_id })
  if (user_id !== undefined && user_id !== accountId) {
    if (role === 'ADMIN') return { accountId: user_id }
    throw new AppError('admin_required', 'The deletion of another account requires the API key of an ADMIN.')
  }
  requireAny({ password })
  return { accountId, owner: await checkOwnPassword(call, password as string) }
}
