import { randomBytes } from 'node:crypto'
import { Curve, proto } from 'baileys'
import { type SigningKey, signingKeyFromSeed } from './signing-key.ts'

export type ServerCertificate = {
  /** The static Noise key that the leaf certificate signs. */
  static: { private: Buffer; public: Buffer }
  chain: Buffer
}

/** Root, intermediate and leaf, as WhatsApp serves them. Clients trust only the root. */
export function issueServerCertificate(root: SigningKey): ServerCertificate {
  const intermediate = signingKeyFromSeed(randomBytes(32))
  const serverKey = Curve.generateKeyPair()
  const staticKey = { private: Buffer.from(serverKey.private), public: Buffer.from(serverKey.public) }
  return {
    static: staticKey,
    chain: Buffer.from(
      proto.CertChain.encode({
        intermediate: issue(root, { serial: 1, issuerSerial: 0, key: intermediate.public }),
        leaf: issue(intermediate, { serial: 2, issuerSerial: 1, key: staticKey.public }),
      }).finish(),
    ),
  }
}

function issue(issuer: SigningKey, subject: { serial: number; issuerSerial: number; key: Buffer }) {
  const daySeconds = 86_400
  const now = Math.floor(Date.now() / 1000)
  const details = proto.CertChain.NoiseCertificate.Details.encode({
    ...subject,
    notBefore: now - daySeconds,
    notAfter: now + 365 * daySeconds,
  }).finish()
  return { details, signature: issuer.sign(details) }
}
