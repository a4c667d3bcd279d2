import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { type BinaryNode, Curve, getBinaryNodeChildBuffer, proto } from 'baileys'
import type { Companion } from './companion.ts'

const chrome = 1
const server = 's.whatsapp.net'

type Parts = { credentialId: Buffer; assertion: unknown }

/** The side of a client that WhatsApp asks for a passkey, step by step. */
export function passkeyClient({ sock, auth }: Companion) {
  const keyPair = Curve.generateKeyPair()
  const nonce = randomBytes(32)
  let ref = ''
  let secretOfQr = Buffer.alloc(0)
  let primary: proto.IPrimaryEphemeralIdentity = {}

  const query = (type: 'get' | 'set', child: BinaryNode) =>
    sock.query({ tag: 'iq', attrs: { to: server, type, xmlns: 'md' }, content: [child] })
  const leaf = (tag: string, content?: Uint8Array): BinaryNode => ({
    tag,
    attrs: {},
    ...(content && { content }),
  })
  const next = (type: string, tag: string) =>
    new Promise<Buffer>((resolve) => {
      sock.ws.once(`CB:notification,type:${type}`, (stanza: BinaryNode) =>
        resolve(getBinaryNodeChildBuffer(stanza, tag) as Buffer),
      )
    })
  const asked = next('passkey_prologue_request', 'passkey_request_options')

  return {
    async challenge(): Promise<string> {
      const { challenge } = JSON.parse((await asked).toString())
      secretOfQr = Buffer.from(auth.creds.advSecretKey, 'base64')
      auth.creds.advSecretKey = randomBytes(32).toString('base64')
      return challenge
    },
    async options(): Promise<Record<string, unknown>> {
      const answer = await query('get', leaf('passkey_request_options'))
      return JSON.parse(String(getBinaryNodeChildBuffer(answer, 'passkey_request_options')))
    },
    /** `prove`: with this secret, by default that of the QR code. */
    async answer({ credentialId, assertion }: Parts, prove?: { secret?: Buffer }) {
      const continuation = next('crsc_continuation', 'primary_ephemeral_identity')
      ref = String(getBinaryNodeChildBuffer(await query('get', leaf('ref')), 'ref'))
      const companionEphemeralIdentity = proto.CompanionEphemeralIdentity.encode({
        publicKey: keyPair.public,
        deviceType: chrome,
        ref,
      }).finish()
      const hash = createHash('sha256').update(companionEphemeralIdentity).update(nonce).digest()
      const payload = proto.ProloguePayload.encode({
        companionEphemeralIdentity,
        commitment: { hash },
      }).finish()
      await query('set', {
        tag: 'passkey_prologue',
        attrs: {},
        content: [
          leaf('credential_id', credentialId),
          leaf('webauthn_assertion', Buffer.from(JSON.stringify(assertion))),
          leaf('prologue_payload', payload),
          ...(prove ? [leaf('pairing_handoff_proof', proofOf(payload, prove.secret ?? secretOfQr))] : []),
        ],
      })
      return { continuation }
    },
    /** Returns the code that the companion shows. */
    async reveal(continuation: Promise<Buffer>, revealed = nonce): Promise<string> {
      primary = proto.PrimaryEphemeralIdentity.decode(await continuation)
      await query('set', leaf('companion_nonce', revealed))
      const digest = createHash('sha256')
        .update(nonce)
        .update(primary.publicKey as Uint8Array)
        .digest()
      const bits = [...digest.subarray(0, 5)].map((byte, at) => byte ^ (primary.nonce?.[at] ?? 0))
      const text = bits.map((byte) => byte.toString(2).padStart(8, '0')).join('')
      const alphabet = '123456789ABCDEFGHJKLMNPQRSTVWXYZ'
      return (text.match(/.{5}/g) ?? []).map((digit) => alphabet[Number.parseInt(digit, 2)]).join('')
    },
    async confirm(noiseKey: Uint8Array = auth.creds.noiseKey.public) {
      const shared = Curve.sharedKey(keyPair.private, primary.publicKey as Uint8Array)
      const salt = `Companion Pairing ${chrome} with ref ${ref}`
      const key = Buffer.from(hkdfSync('sha256', shared, salt, 'Pairing Information Encryption Key', 32))
      const request = proto.PairingRequest.encode({
        companionPublicKey: noiseKey,
        companionIdentityKey: auth.creds.signedIdentityKey.public,
        advSecret: Buffer.from(auth.creds.advSecretKey, 'base64'),
      }).finish()
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const encryptedPayload = Buffer.concat([cipher.update(request), cipher.final(), cipher.getAuthTag()])
      const sealed = proto.EncryptedPairingRequest.encode({ encryptedPayload, iv }).finish()
      await query('set', leaf('encrypted_pairing_request', sealed))
    },
  }
}

function proofOf(payload: Uint8Array, secret: Buffer): Buffer {
  const key = hkdfSync('sha256', secret, Buffer.alloc(0), 'shortcake-passkey-handoff-v1', 32)
  return createHmac('sha256', Buffer.from(key)).update(payload).digest()
}
