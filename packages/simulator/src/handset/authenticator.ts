import { createHash, sign, verify } from 'node:crypto'
import type { Passkey } from '../network/passkey.ts'

export const relyingParty = 'whatsapp.com'
const origin = 'https://web.whatsapp.com'
const [userPresent, userVerified] = [1, 4]
const flagsAt = 32
const counterBytes = 4

/** What a web page gets from `navigator.credentials.get()`, as JSON. Bytes are base64url. */
export type Assertion = {
  id: string
  rawId: string
  type: 'public-key'
  response: {
    clientDataJSON: string
    authenticatorData: string
    signature: string
    userHandle: string | null
  }
}

/** The person confirms with a fingerprint on WhatsApp's own page. */
export function makeAssertion({ credentialId, privateKey }: Passkey, challenge: string): Assertion {
  const clientData = Buffer.from(
    JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }),
  )
  const authenticatorData = Buffer.concat([
    sha256(relyingParty),
    Buffer.from([userPresent | userVerified]),
    Buffer.alloc(counterBytes),
  ])
  const id = credentialId.toString('base64url')
  const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), privateKey)
  return {
    id,
    rawId: id,
    type: 'public-key',
    response: {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: null,
    },
  }
}

/** Why the assertion does not prove that the person has the passkey. Undefined when it does. */
export function findFlaw(
  { credentialId, publicKey }: Passkey,
  challenge: string,
  given: { credentialId: Buffer; assertion: Buffer },
): string | undefined {
  const parsed = parseJson(given.assertion) as Partial<Assertion> | undefined
  const { clientDataJSON, authenticatorData, signature } = parsed?.response ?? {}
  if (!clientDataJSON || !authenticatorData || !signature) return 'no assertion'
  if (!given.credentialId.equals(credentialId)) return 'another credential'
  const [clientBytes, data] = [fromText(clientDataJSON), fromText(authenticatorData)]
  const client = parseJson(clientBytes) as Record<string, unknown> | undefined
  if (client?.type !== 'webauthn.get') return 'not an assertion'
  if (client.challenge !== challenge) return 'another challenge'
  if (client.origin !== origin) return 'another origin'
  if (!data.subarray(0, flagsAt).equals(sha256(relyingParty))) return 'another relying party'
  if (((data[flagsAt] ?? 0) & userVerified) === 0) return 'the person was not verified'
  const signed = Buffer.concat([data, sha256(clientBytes)])
  return verify('sha256', signed, publicKey, fromText(signature)) ? undefined : 'a wrong signature'
}

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest()
const fromText = (text: string): Buffer => Buffer.from(text, 'base64url')

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
