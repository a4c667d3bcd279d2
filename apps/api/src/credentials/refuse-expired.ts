import type { KeyHolder } from '@wagate/db/queries/api-keys'
import { AppError } from '../errors/app-error.ts'

/** Throws `account_expired`. */
export function refuseExpired({ accountExpiresAt }: KeyHolder): void {
  if (accountExpiresAt && accountExpiresAt.getTime() <= Date.now()) {
    throw new AppError('account_expired', 'The account has expired.')
  }
}
