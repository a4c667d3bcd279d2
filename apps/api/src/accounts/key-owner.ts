import type { Database } from '@wagate/db/client'
import { findAccountInfo } from '@wagate/db/queries/accounts/accounts'
import { type Principal, refuseExpired } from '../credentials/principal.ts'
import { AppError } from '../errors/app-error.ts'
import { recordId } from '../parameters/parameter-types.ts'

/** The parameter with which an ADMIN manages the keys of another account. */
export const keyOwner = {
  user_id: recordId
    .optional()
    .describe('The account that owns the keys, by default your own; another one requires an ADMIN'),
}

/** Throws `admin_required`, `account_expired` or `user_not_found`. */
export async function getKeyOwner(
  { context, principal }: { context: { db: Database }; principal: Principal },
  { user_id = principal.accountId }: { user_id?: number | undefined },
): Promise<number> {
  if (user_id === principal.accountId) return user_id
  if (principal.role !== 'ADMIN') {
    throw new AppError('admin_required', 'The keys of another account require the API key of an ADMIN.')
  }
  refuseExpired(principal)
  if (!(await findAccountInfo(context.db, user_id))) throw userNotFound()
  return user_id
}

export function userNotFound(): AppError {
  return new AppError('user_not_found', 'No such account.')
}
