import type { ApiContext } from '../context.ts'
import { AppError } from '../errors/app-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import { charge } from '../limits/charge.ts'
import type { Operation } from '../operation.ts'
import { getPrincipal } from './get-principal.ts'
import type { Principal } from './principal.ts'
import { refuseExpired } from './refuse-expired.ts'

/** Charges the caller's rate limits and checks that the caller may use the operation. */
export async function admitCaller(
  context: Pick<ApiContext, 'keys' | 'limits'>,
  operation: Pick<Operation, 'changes' | 'adminOnly'>,
  request: RequestContext,
  key: string,
): Promise<Principal> {
  const { requests, accountRequests } = context.limits
  const principal = await getPrincipal(context, request, key)
  request.principal = principal
  if (requests || accountRequests) {
    const charges = [
      { limiter: requests, key: String(principal.keyId) },
      { limiter: accountRequests, key: String(principal.accountId) },
    ]
    await request.deadline.run(() => charge(charges, request.responseHeaders))
  }
  if (operation.adminOnly && principal.role !== 'ADMIN') {
    throw new AppError('admin_required', 'This operation requires the API key of an ADMIN.')
  }
  // An expired account may still read its own data.
  if (operation.changes || operation.adminOnly) refuseExpired(principal)
  return principal
}
