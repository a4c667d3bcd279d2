import { AppError } from '../errors/app-error.ts'

export function isAnyGiven(parameters: Record<string, unknown>): boolean {
  return Object.values(parameters).some((value) => value !== undefined)
}

/** Throws `missing_parameter` if all of them are undefined. */
export function requireAny(parameters: Record<string, unknown>): void {
  if (isAnyGiven(parameters)) return
  const names = Object.keys(parameters)
  throw new AppError('missing_parameter', `At least one of these is required: ${names.join(', ')}.`, {
    details: names.map((parameter) => ({ parameter, message: 'at least one of these is required' })),
  })
}
