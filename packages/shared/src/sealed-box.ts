import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/**
 * Boxes that everyone can fill and only the holder of a key can open: X25519 with a new key pair for each box, and
 * AES-256-GCM. Layout: 1 version, 4 id of the key, 32 public key of the box, 12 nonce, 16 tag, ciphertext. `context` is
 * authenticated: a box copied to another place does not open.
 */
export type BoxKey = {
  publicKey: Buffer
  /** Throws when the box was changed or moved. */
  open(box: Buffer, context: string): Buffer
}

const version = 1
const [nonceAt, tagAt, bodyAt] = [37, 49, 65]
// What precedes the 32 bytes of a key in its DER form.
const privateHeader = Buffer.from('302e020100300506032b656e04220420', 'hex')
const publicHeader = Buffer.from('302a300506032b656e032100', 'hex')

/** `seed`: 32 secret bytes. */
export function makeBoxKey(seed: Buffer): BoxKey {
  const key = Buffer.concat([privateHeader, seed])
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  const publicKey = rawOf(createPublicKey(privateKey))
  return {
    publicKey,
    open(box, context) {
      if (box.length < bodyAt || box[0] !== version) throw new Error('A sealed box has an unknown format')
      const ofBox = box.subarray(5, nonceAt)
      const key = keyOf(privateKey, keyObjectOf(ofBox), [ofBox, publicKey])
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(nonceAt, tagAt))
        .setAAD(Buffer.from(context))
        .setAuthTag(box.subarray(tagAt, bodyAt))
      return Buffer.concat([decipher.update(box.subarray(bodyAt)), decipher.final()])
    },
  }
}

/** `id`: eight hexadecimal characters, by which the holder finds the key. */
export function sealBox(
  recipient: { id: string; publicKey: Buffer },
  plaintext: Buffer,
  context: string,
): Buffer {
  const pair = generateKeyPairSync('x25519')
  const ofBox = rawOf(pair.publicKey)
  const key = keyOf(pair.privateKey, keyObjectOf(recipient.publicKey), [ofBox, recipient.publicKey])
  const nonce = randomBytes(tagAt - nonceAt)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const id = Buffer.from(recipient.id, 'hex')
  return Buffer.concat([Buffer.of(version), id, ofBox, nonce, cipher.getAuthTag(), body])
}

/** The id of the key that opens the box. */
export function keyIdOf(box: Buffer): string {
  return box.toString('hex', 1, 5)
}

function keyOf(privateKey: KeyObject, publicKey: KeyObject, salt: Buffer[]): Buffer {
  const shared = diffieHellman({ privateKey, publicKey })
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat(salt), 'wagate sealed box', 32))
}

function keyObjectOf(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicHeader, raw]), format: 'der', type: 'spki' })
}

function rawOf(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(publicHeader.length)
}
