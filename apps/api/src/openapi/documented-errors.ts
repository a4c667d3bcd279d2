import type { Operation } from '../calls/operation.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'

/** Independent of the path: the request never reaches its handler, or the handler fails. */
export const errorsOfEveryPath: RequestErrorCode[] = [
  'invalid_parameter',
  'request_timeout',
  'headers_too_large',
  'internal_error',
]

export const always: RequestErrorCode[] = [
  ...errorsOfEveryPath,
  'duplicate_parameter',
  'rate_limited',
  'unavailable',
  'storage_full',
]
export const ofCredentials: RequestErrorCode[] = [
  'conflicting_api_keys',
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'session_ended',
  'account_disabled',
  'credential_not_allowed',
  'origin_refused',
]
export const ofBodies: RequestErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type']
export const ofChanges: RequestErrorCode[] = ['account_expired', 'prefetch_refused']

/** Every error code of the operation. */
export function documentedErrors(operation: Operation, method: 'GET' | 'POST'): RequestErrorCode[] {
  const applicable: [boolean, RequestErrorCode[]][] = [
    [true, always],
    [!operation.isPublic, ofCredentials],
    [operation.isPublic, ['origin_refused']],
    [!operation.parameters.safeParse({}).success, ['missing_parameter']],
    [method === 'POST', ofBodies.filter((code) => code !== 'malformed_json' || !operation.takesFile)],
    [
      operation.changes && !operation.isPublic && !operation.admitsExpired,
      ofChanges.filter((code) => code !== 'prefetch_refused' || method === 'GET'),
    ],
    [operation.adminOnly === true, ['admin_required', 'account_expired']],
    [takesIdempotencyKey(operation), ['idempotency_key_reused']],
    [true, operation.errors ?? []],
  ]
  return [...new Set(applicable.flatMap(([applies, codes]) => (applies ? codes : [])))]
}

export function takesIdempotencyKey({ parameters }: Operation): boolean {
  return Object.hasOwn(parameters.shape, 'idempotency_key')
}
