import type { Principal } from '../credentials/principal.ts'
import { AppError } from '../errors/app-error.ts'

/** Throws `credential_not_allowed` for an API key. */
export function requireSession({ principal }: { principal: Principal }): Principal {
  if (principal.isSession) return principal
  throw new AppError('credential_not_allowed', 'An API key has no session. Revoke it with revoke-key.')
}
