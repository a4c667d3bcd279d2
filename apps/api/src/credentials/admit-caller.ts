import { AppError } from '../errors/app-error.ts'
import { clientNetwork } from '../http/client-address.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type Charge, charge } from '../limits/charge.ts'
import type { Limits } from '../limits/limits.ts'
import { isOfSession } from './api-key.ts'
import type { ApiKeyCache } from './api-key-cache.ts'
import { type Credential, type Principal, refuseExpired } from './principal.ts'

/** What decides on callers. */
export type Admission = {
  keys: ApiKeyCache
  limits: Limits
  /** Whether API keys may be in the URL. */
  allowsQuery: boolean
}

/** What an operation asks of its callers. */
export type AdmissionRules = {
  /** Operations that change state accept no HEAD, no prefetch and no expired account. */
  changes: boolean
  /** Although it changes state: what keeps an account safe. */
  admitsExpired?: boolean
  adminOnly?: boolean
  /** Only API keys unless told otherwise. */
  admits?: Credential[]
}

/** Charges the caller's rate limits and checks that the caller may use the operation. */
export async function admitCaller(
  admission: Pick<Admission, 'keys' | 'limits'>,
  operation: AdmissionRules,
  request: RequestContext,
  key: string,
): Promise<Principal> {
  const principal = await getPrincipal(admission, request, key)
  request.known.principal = principal
  const charges = chargesOf(principal, admission.limits)
  if (charges.some(({ limiter }) => limiter)) {
    await request.deadline.run(() => charge(charges, request.responseHeaders))
  }
  if (operation.adminOnly && principal.role !== 'ADMIN') {
    throw new AppError('admin_required', 'This operation requires the API key of an ADMIN.')
  }
  // An expired account may still read its own data.
  if ((operation.changes && !operation.admitsExpired) || operation.adminOnly) refuseExpired(principal)
  refuseCredential(operation, principal)
  return principal
}

/**
 * Throws `invalid_api_key`, `expired_api_key`, `session_ended` or `account_disabled`, or `rate_limited` after too many invalid
 * keys from one client network. Valid keys are never limited here: with 256 random bits they cannot be guessed, and a limit
 * would let one client lock out all others behind the same address.
 */
async function getPrincipal(
  { keys, limits }: Pick<Admission, 'keys' | 'limits'>,
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
    await charge([{ limiter: limits.failedKeys, key: network }], responseHeaders)
    throw new AppError('invalid_api_key', 'The API key is not valid.')
  })
}

/** A person with a link, or a page with a token, must not use up what the programs of the account need. */
function chargesOf({ link, streamToken, keyId, accountId }: Principal, limits: Limits): Charge[] {
  const ofAccount = { limiter: limits.accountLinkRequests, key: String(accountId) }
  if (link) return [{ limiter: limits.linkRequests, key: String(link.id) }, ofAccount]
  if (streamToken) return [{ limiter: limits.streamTokenRequests, key: String(streamToken.id) }, ofAccount]
  return [
    { limiter: limits.requests, key: String(keyId) },
    { limiter: limits.accountRequests, key: String(accountId) },
  ]
}

function refuseCredential(
  { admits = ['key'] }: Pick<AdmissionRules, 'admits'>,
  { link, streamToken }: Principal,
): void {
  const credential = link?.credential ?? (streamToken ? 'stream-token' : 'key')
  if (admits.includes(credential)) return
  throw new AppError('credential_not_allowed', refusals[credential])
}

const refusals: Record<Credential, string> = {
  key: 'An API key opens no link. Use the secret of a link from create-link.',
  link: 'A one-time link can only be opened, with open-link.',
  'stream-token': 'A token from create-stream-token can only open events/stream.',
  session: 'The session of a one-time link can only link its own sender.',
}
