import { createHmac } from 'node:crypto'

/** `issuedAt` in seconds. */
export type PrivacyToken = { token: Buffer; issuedAt: number }

// As WhatsApp Web counts them.
const bucketSeconds = 7 * 86_400
const bucketsValid = 4
/** A contact issues one in each bucket. */
const tokensMax = bucketsValid + 1

/** A token is valid in the bucket in which it was issued and in the three that follow. */
function isExpired({ issuedAt }: Pick<PrivacyToken, 'issuedAt'>): boolean {
  const bucketNow = Math.floor(Date.now() / 1000 / bucketSeconds)
  return Math.floor(issuedAt / bucketSeconds) <= bucketNow - bucketsValid
}

export function isHeldToken(held: PrivacyToken, token: Uint8Array): boolean {
  return held.token.equals(token) && !isExpired(held)
}

/** Tokens may arrive in any order. */
export function addToken(tokens: PrivacyToken[], added: PrivacyToken): PrivacyToken[] {
  return [...tokens, added].sort((one, other) => one.issuedAt - other.issuedAt).slice(-tokensMax)
}

/** What an account proves with the salt that WhatsApp gave it. */
export function coldToken(salt: Buffer, recipientLid: string): Buffer {
  return createHmac('sha256', salt).update(recipientLid).digest()
}
