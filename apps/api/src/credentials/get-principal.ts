import type { ApiContext } from '../context.ts'
import { AppError } from '../errors/app-error.ts'
import { clientNetwork } from '../http/client-address.ts'
import type { RequestContext } from '../http/request-context.ts'
import { charge } from '../limits/charge.ts'
import { isOfSession } from './api-key.ts'
import type { Principal } from './principal.ts'

/**
 * Throws `invalid_api_key`, `expired_api_key`, `session_ended` or `account_disabled`, or `rate_limited` after too many invalid
 * keys from one client network. Valid keys are never limited here: with 256 random bits they cannot be guessed, and a limit
 * would let one client lock out all others behind the same address.
 */
export async function getPrincipal(
  { keys, limits }: Pick<ApiContext, 'keys' | 'limits'>,
  { deadline, responseHeaders, findClientAddress }: RequestContext,
  key: string,
): Promise<Principal> {
  const cached = keys.findCached(key)
  if (cached) return cached
  return deadline.run(async () => {
    const principal = await keys.find(key)
    if (principal) return principal
    if (isOfSession(key)) throw new AppError('session_ended', 'You are signed out. Sign in again.')
    const network = clientNetwork(findClientAddress())
    await charge([{ limiter: limits.failedKeys, key: network }], responseHeaders, tooManyInvalid)
    throw new AppError('invalid_api_key', 'The API key is not valid.')
  })
}

const tooManyInvalid = 'Too many requests with invalid API keys. Try again later.'
