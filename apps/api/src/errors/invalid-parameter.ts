import { AppError } from './app-error.ts'

/** A parameter, or a header in place of one, that the schema of its operation does not judge. `message`: `must be …`. */
export function invalidParameter(parameter: string, message: string): AppError {
  return new AppError('invalid_parameter', `${parameter} ${message}`, { details: [{ parameter, message }] })
}
