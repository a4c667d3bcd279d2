const errors = {
  link_used: 'This link has already been used. Ask for a new one.',
  link_expired: 'This link has expired. Ask for a new one.',
  expired_session: 'The time of this link is over. Ask for a new one.',
  invalid_link: 'This link is not valid any more. Ask for a new one.',
  invalid_api_key: 'This API key is not valid. Check it and try again.',
  expired_api_key: 'This API key has expired. Use another one.',
  account_expired: 'The account has expired. Ask the operator of the gateway to extend it.',
  device_limit_reached:
    'The account cannot have more senders. Remove one, or ask the operator to raise the limit.',
  device_not_found: 'This sender has been removed. Ask for a new link.',
  rate_limited: 'Too many attempts just now. This page keeps trying.',
  qr_timeout: 'No code from WhatsApp yet. This page keeps trying.',
  unavailable: 'The gateway is busy. This page keeps trying.',
  storage_full: 'The gateway is busy. This page keeps trying.',
  internal_error: 'Something went wrong in the gateway. This page keeps trying.',
  unreachable: 'The gateway cannot be reached. This page keeps trying.',
  pairing_code_refused: 'WhatsApp gives out no code for this number. Scan the QR code.',
  passkey_refused: 'WhatsApp did not accept the passkey. Use the passkey of this account, and try again.',
  no_passkey_pending: 'The passkey is no longer asked for. Wait for the next step.',
}

const temporary = new Set([
  'rate_limited',
  'qr_timeout',
  'unavailable',
  'storage_full',
  'internal_error',
  'unreachable',
])

/** True when the same request may succeed later. */
export const isTemporary = ({ code }) => temporary.has(code)

export const sentenceOf = ({ code, message }) => errors[code] ?? message

const reasons = {
  sender_mismatch: 'A phone with another number scanned the code. Scan it with {sender}.',
  qr_expired: 'The code has expired because it was not scanned in time.',
  passkey_expired: 'The passkey was not used in time.',
  logged_out: 'This sender is not linked.',
  banned_by_whatsapp: 'WhatsApp has banned this number. Open WhatsApp on the phone to appeal.',
  blocked_by_whatsapp:
    'WhatsApp has locked this account. Open WhatsApp on the phone and follow its instructions.',
  temporarily_banned: 'WhatsApp has banned this number for a time. Try again later.',
}

/** Why a pairing ended. */
export const reasonSentence = (reason, sender) =>
  (reasons[reason] ?? 'The linking has ended.').replace('{sender}', sender)
