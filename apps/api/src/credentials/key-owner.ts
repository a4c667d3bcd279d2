import { findAccountInfo } from '@wagate/db/queries/accounts'
import { AppError } from '../errors/app-error.ts'
import { userId } from '../objects/user-object.ts'
import type { Call } from '../operation.ts'
import { refuseExpired } from './refuse-expired.ts'

/** What the operations on keys take: an ADMIN helps an account that has lost its keys, or takes them away. */
export const keyOwner = {
  user_id: userId.optional().describe('Whose keys, for an ADMIN; those of the own account by default'),
}

/** Throws `admin_required`, `account_expired` or `user_not_found`. */
export async function getKeyOwner(
  { context, account }: Call,
  { user_id = account.accountId }: { user_id?: number | undefined },
): Promise<number> {
  if (user_id === account.accountId) return user_id
  if (account.role !== 'ADMIN') {
    throw new AppError('admin_required', 'The keys of another account need the API key of an ADMIN.')
  }
  refuseExpired(account)
  if (!(await findAccountInfo(context.db, user_id))) throw userNotFound()
  return user_id
}

export function userNotFound(): AppError {
  return new AppError('user_not_found', 'There is no such account.')
}
