import { clientNetwork } from '../http/client-address.ts'
import type { BodySender, LargeBodies } from '../http/large-bodies.ts'
import { readBody } from '../http/read-body.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type Admission, type AdmissionRules, admitCaller } from './admit-caller.ts'
import { findKeyOutsideBody, getKey, refusePasswordInQuery } from './find-key.ts'
import type { Principal } from './principal.ts'
import type { SessionCookie } from './session-cookie.ts'

export type Reception = Admission & {
  largeBodies: LargeBodies
  /** Warns the operator, the first time. */
  noteKeyInUrl(): void
}

type Received = AdmissionRules & { bodyBytesMax?: number; takesFile?: boolean }

type Authenticated = { principal: Principal; key: string; body: [name: string, value: unknown][] }

/**
 * Reads the body, too. With a key outside of it, the caller is admitted before the body is read, so that invalid keys cost
 * no upload.
 */
export async function authenticate(
  reception: Reception,
  operation: Received,
  request: RequestContext,
  cookie: () => SessionCookie,
): Promise<Authenticated> {
  const { allowsQuery: allowQuery, largeBodies, noteKeyInUrl } = reception
  const { raw, url } = request
  const allowToken = operation.admits?.includes('stream-token')
  const outside = findKeyOutsideBody(raw, url, { allowQuery, allowToken }) ?? cookie().read()
  if (url.searchParams.has('api_key')) noteKeyInUrl()
  refusePasswordInQuery(url, { allowQuery })
  const early = outside === undefined ? undefined : await admitCaller(reception, operation, request, outside)
  const bytesMax = operation.bodyBytesMax ?? bodyBytesMax
  const admission = operation.bodyBytesMax
    ? largeBodies.admit(request, bodySenderOf(request, early))
    : undefined
  const hasParameters = raw.method === 'POST' && !operation.takesFile
  const body = hasParameters ? await readBody(raw, { bytesMax, admission }) : []
  const key = getKey(outside, body, raw.headers.get('authorization'))
  const principal = early ?? (await admitCaller(reception, operation, request, key))
  // Not `key`, which is never the secret of a session.
  return { principal, key: outside ?? key, body }
}

export const bodyBytesMax = 64 * 1024

function bodySenderOf({ findClientAddress }: RequestContext, principal: Principal | undefined): BodySender {
  return principal
    ? { kind: 'account', key: String(principal.accountId) }
    : { kind: 'network', key: clientNetwork(findClientAddress()) }
}
