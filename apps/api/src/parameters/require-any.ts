import { AppError } from '../errors/app-error.ts'

export function isAnyGiven(parameters: Record<string, unknown>): boolean {
  return Object.values(parameters).some((value) => value !== undefined)
}

/** Throws when none of what could be changed is given. */
export function requireAny(parameters: Record<string, unknown>): void {
  if (isAnyGiven(parameters)) return
  const names = Object.keys(parameters)
  throw new AppError('missing_parameter', `Give at least one of ${names.join(', ')}.`, {
    details: names.map((parameter) => ({ parameter, message: 'or another one is missing' })),
  })
}
