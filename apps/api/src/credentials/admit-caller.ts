import type { ApiContext } from '../context.ts'
import { AppError } from '../errors/app-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type Charge, charge } from '../limits/charge.ts'
import type { Limits } from '../limits/limits.ts'
import type { Operation } from '../operation.ts'
import { getPrincipal } from './get-principal.ts'
import type { Credential, Principal } from './principal.ts'
import { refuseExpired } from './refuse-expired.ts'

/** Charges the caller's rate limits and checks that the caller may use the operation. */
export async function admitCaller(
  context: Pick<ApiContext, 'keys' | 'limits'>,
  operation: Pick<Operation, 'changes' | 'adminOnly' | 'admits' | 'admitsExpired'>,
  request: RequestContext,
  key: string,
): Promise<Principal> {
  const principal = await getPrincipal(context, request, key)
  request.principal = principal
  const charges = chargesOf(principal, context.limits)
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
  { admits = ['key'] }: Pick<Operation, 'admits'>,
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
