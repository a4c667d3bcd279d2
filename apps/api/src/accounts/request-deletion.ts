import { type PasswordHolder, updateAccount } from '@wagate/db/queries/accounts/accounts'
import {
  type AccountDeletion,
  findAccountDeletion,
  requestAccountDeletion,
} from '@wagate/db/queries/retention/account-deletions'
import type { Call } from '../calls/call.ts'
import { audit } from '../changes/audit.ts'
import { hashApiKey, makeApiKey } from '../credentials/api-key.ts'
import { lastAdmin } from './account-errors.ts'
import { confirmPassword } from './check-password.ts'
import { userNotFound } from './key-owner.ts'
import { notifyDispatchers, notifyOwners } from './notify-workers.ts'
import { tellOfDeletion } from './tell-owner.ts'

/** Without `proof`: it was requested before. */
export type RequestedDeletion = { deletion: AccountDeletion; proof?: string }

/** Disables an account and requests its deletion. Throws `user_not_found`, `last_admin` or, with an owner, `wrong_password`. */
export async function requestDeletion(
  call: Call,
  accountId: number,
  owner?: PasswordHolder,
): Promise<RequestedDeletion> {
  const { db, config, notify } = call.context
  const proof = makeApiKey('wag_proof_')
  const requested = await db.transaction(async (tx): Promise<RequestedDeletion> => {
    const updated = await updateAccount(tx, accountId, { isDisabled: true })
    if (owner) await confirmPassword(tx, owner)
    if (updated === 'last_admin') throw lastAdmin()
    const isNew =
      updated !== undefined &&
      (await requestAccountDeletion(tx, accountId, {
        proofHash: hashApiKey(proof),
        afterDays: config.accounts.deletionDays,
      }))
    const deletion = await findAccountDeletion(tx, accountId)
    if (!deletion) throw userNotFound()
    if (!isNew) return { deletion }
    await audit(tx, call, { target: `account:${accountId}`, result: 'requested' })
    return { deletion, proof }
  })
  if (requested.proof === undefined) return requested
  await notify.accountChanged(accountId)
  await notifyOwners(call.context, accountId)
  await notifyDispatchers(call.context, accountId)
  tellOfDeletion(call.context, accountId, requested.deletion.dueAt)
  return requested
}
