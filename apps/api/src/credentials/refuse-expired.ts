import { AppError } from '../errors/app-error.ts'
import type { Principal } from './principal.ts'

/** Throws `account_expired`. */
export function refuseExpired({ accountExpiresAt }: Principal): void {
  if (accountExpiresAt && accountExpiresAt.getTime() <= Date.now()) {
    throw new AppError('account_expired', 'The account has expired.')
  }
}
