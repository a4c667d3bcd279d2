import { AppError } from '../errors/app-error.ts'

export function lastAdmin(): AppError {
  return new AppError('last_admin', 'This would leave no active ADMIN.')
}

export function accountDeleting(): AppError {
  return new AppError('account_deleting', 'The account is being deleted.')
}
