import { expect, it } from 'vitest'
import { requestErrorStatus } from '../src/errors/request-errors.ts'

/** Programs depend on them: a code may be added, none may be renamed, removed or moved to another status. */
it('every published code of a request keeps its status', () => {
  const published: Record<number, string[]> = {
    400: [
      ...['invalid_parameter', 'missing_parameter', 'malformed_json', 'duplicate_parameter'],
      ...['conflicting_api_keys', 'prefetch_refused', 'invalid_media'],
    ],
    401: ['missing_api_key', 'invalid_api_key', 'expired_api_key'],
    403: ['admin_required', 'account_expired', 'device_limit_reached', 'media_url_forbidden'],
    404: ['not_found', 'sender_not_found', 'device_not_found', 'message_not_found'],
    405: ['method_not_allowed'],
    409: ['sender_not_connected', 'sender_blocked', 'already_connected', 'email_exists', 'not_cancelable'],
    413: ['payload_too_large'],
    415: ['unsupported_media_type'],
    422: ['idempotency_key_reused'],
    429: ['rate_limited', 'queue_full'],
    431: ['headers_too_large'],
    500: ['internal_error'],
    503: ['unavailable', 'storage_full'],
    504: ['qr_timeout'],
  }
  for (const [status, codes] of Object.entries(published)) {
    for (const code of codes) expect(requestErrorStatus, code).toHaveProperty(code, Number(status))
  }
})
