const errors = {
  account_disabled: 'This account is disabled, or is being deleted. Ask the operator of the gateway.',
  account_expired: 'The account has expired. Ask the operator of the gateway to extend it.',
  device_limit_reached:
    'The account cannot have more senders. Remove one, or ask the operator to raise the limit.',
  email_exists: 'There is an account with this email address already.',
  export_incomplete: 'The file has broken off. Download it again.',
  internal_error: 'Something went wrong in the gateway. Try again.',
  key_limit_reached: 'The account cannot have more keys. Revoke one first.',
  last_admin: 'This is the last administrator of the gateway. Make another one first.',
  last_key: 'This is the last key of the account. Create another one first.',
  mail_link_invalid: 'This link is not valid any more: it was used, or it has expired.',
  origin_refused: 'This page was opened under an address that the gateway does not know as its own.',
  storage_full: 'The gateway is busy. Try again in a minute.',
  unavailable: 'The gateway is busy. Try again in a minute.',
  unreachable: 'The gateway cannot be reached. Check the network and try again.',
  wrong_password: 'The email address or the password is wrong.',
}

const parameters = {
  email: () => 'This is not an email address.',
  password: (problem) => `The password ${problem}.`,
  sender: () => 'This is not a phone number. Type all its digits, with the country prefix.',
}

export function sentenceOf({ code, message, retryAfterSeconds, details: [wrong] = [] }) {
  if (code === 'rate_limited') return `Too many attempts. Try again in ${waitOf(retryAfterSeconds)}.`
  const sentence = code === 'invalid_parameter' && parameters[wrong?.parameter]
  return sentence ? sentence(wrong.message) : (errors[code] ?? message)
}

export const isWrong = ({ details = [] }, name) => details.some(({ parameter }) => parameter === name)

function waitOf(seconds) {
  if (seconds < 2) return 'a moment'
  return seconds <= 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`
}
