import { AppError } from '../errors/app-error.ts'

export function emailExists(): AppError {
  return new AppError('email_exists', 'An account with this email already exists.')
}

export function lastAdmin(): AppError {
  return new AppError('last_admin', 'This would leave no active ADMIN.')
}

export function accountDeleting(): AppError {
  return new AppError('account_deleting', 'The account is being deleted.')
}
