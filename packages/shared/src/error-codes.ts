/** Every code a request can be answered with, and its HTTP status. */
export const requestErrorStatus = {
  invalid_parameter: 400,
  missing_parameter: 400,
  malformed_json: 400,
  duplicate_parameter: 400,
  conflicting_api_keys: 400,
  prefetch_refused: 400,
  invalid_media: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  expired_api_key: 401,
  admin_required: 403,
  account_expired: 403,
  device_limit_reached: 403,
  media_url_forbidden: 403,
  not_found: 404,
  sender_not_found: 404,
  device_not_found: 404,
  message_not_found: 404,
  method_not_allowed: 405,
  sender_not_connected: 409,
  already_connected: 409,
  email_exists: 409,
  not_cancelable: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  queue_full: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
  storage_full: 503,
  qr_timeout: 504,
} as const

export type RequestErrorCode = keyof typeof requestErrorStatus

/** Why a message that was accepted ended as `failed`: the code in the record, and the sentence beside it. */
export const messageErrors = {
  recipient_not_on_whatsapp: 'The recipient number is not on WhatsApp.',
  sender_logged_out: 'The sender was logged out before the message was sent.',
  sender_mismatch: 'The phone that scanned the QR code has another number than the sender.',
  sender_restricted: 'WhatsApp does not let this sender write to new contacts at the moment.',
  media_fetch_failed: 'The media URL could not be fetched.',
  media_fetch_timeout: 'The media URL did not answer completely in time.',
  media_too_large: 'The media file is larger than allowed for its type.',
  media_type_mismatch: 'The media file is not of the given type.',
  media_url_forbidden: 'The media URL points to an address that the gateway does not fetch from.',
  invalid_media: 'The media file cannot be sent.',
  message_expired: 'The message could not be sent in the time allowed.',
  rejected_by_whatsapp: 'WhatsApp refused the message.',
  opted_out: 'The recipient has opted out of messages from this sender.',
} as const

export type MessageErrorCode = keyof typeof messageErrors
