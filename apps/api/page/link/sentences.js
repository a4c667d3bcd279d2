import { fill, texts } from './texts.js'

/** The text for each code of the operations that the page calls. */
const errors = {
  link_used: 'linkUsed',
  link_expired: 'linkExpired',
  expired_session: 'sessionOver',
  invalid_link: 'linkInvalid',
  invalid_api_key: 'keyInvalid',
  missing_api_key: 'keyInvalid',
  conflicting_api_keys: 'keyInvalid',
  credential_not_allowed: 'keyInvalid',
  expired_api_key: 'keyExpired',
  account_expired: 'accountClosed',
  account_disabled: 'accountClosed',
  device_limit_reached: 'senderLimit',
  device_not_found: 'senderRemoved',
  rate_limited: 'tooMany',
  qr_timeout: 'noCode',
  unavailable: 'busy',
  storage_full: 'busy',
  request_timeout: 'busy',
  internal_error: 'failed',
  proxy_failed: 'failed',
  unreachable: 'unreachable',
  pairing_code_refused: 'codeRefused',
  passkey_refused: 'passkeyRefused',
  no_passkey_pending: 'passkeyOver',
}

/** What a person has typed, by the parameter that the gateway refused. */
const typed = { sender: 'wrongNumber', assertion: 'wrongAnswer', api_key: 'keyInvalid' }

const temporary = new Set([
  'rate_limited',
  'qr_timeout',
  'unavailable',
  'storage_full',
  'request_timeout',
  'internal_error',
  'proxy_failed',
  'unreachable',
])

/** True when the same request may succeed later. */
export const isTemporary = ({ code }) => temporary.has(code)

/** Never the sentence of the gateway, which is for programmers. */
export function sentenceOf({ code, details = [] }) {
  const ofTyped = details.map(({ parameter }) => typed[parameter]).find(Boolean)
  const key = ofTyped ?? errors[code]
  return key ? texts[key] : fill('other', { code })
}

const reasons = {
  sender_mismatch: 'mismatch',
  qr_expired: 'qrExpired',
  passkey_expired: 'passkeyLate',
  logged_out: 'loggedOut',
  banned_by_whatsapp: 'banned',
  blocked_by_whatsapp: 'blocked',
  temporarily_banned: 'bannedForNow',
}

/** Why a pairing ended. */
export const reasonSentence = (reason, number) => fill(reasons[reason] ?? 'ended', { number })
