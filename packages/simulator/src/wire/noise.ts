import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { Curve, NOISE_MODE, proto } from 'baileys'
import type { ServerCertificate } from './certificate.ts'

const tagBytes = 16
const empty = Buffer.alloc(0)

export type Transport = {
  encrypt: (plaintext: Uint8Array) => Buffer
  decrypt: (ciphertext: Uint8Array) => Buffer
}

export type FinishedHandshake = {
  /** The client's static Noise key, proven by the handshake. It identifies a linked device. */
  clientKey: Buffer
  payload: proto.IClientPayload
  transport: Transport
}

// Longer than the hash, so it is used hashed.
const fallbackMode = createHash('sha256').update('Noise_XXfallback_25519_AESGCM_SHA256').digest()

/**
 * The responder's side of Noise_XX_25519_AESGCM_SHA256 as WhatsApp uses it, for one connection. A client that knows the
 * server's key may begin with Noise_IK, which also encrypts its own key and login. It is answered as by a server that
 * has another key now: with XXfallback, which needs only the ephemeral key of that hello.
 */
export class NoiseResponder {
  // NOISE_MODE is exactly 32 bytes long, and a name of the hash's length is used unhashed.
  #hash: Buffer = Buffer.from(NOISE_MODE)
  #salt = this.#hash
  #key = this.#hash
  #counter = 0
  readonly #ephemeral = Curve.generateKeyPair()
  readonly #certificate: ServerCertificate

  constructor(certificate: ServerCertificate) {
    this.#certificate = certificate
  }

  /** Reads the client's first frame and returns the body of the response. `intro` is what its stream began with. */
  answerHello(frame: Buffer, intro: Buffer): Uint8Array {
    const { clientHello } = proto.HandshakeMessage.decode(frame)
    const clientEphemeral = clientHello?.ephemeral
    if (clientEphemeral?.length !== 32) throw new Error('client hello without an ephemeral key')
    if (clientHello?.static?.length) this.#hash = this.#salt = this.#key = fallbackMode
    this.#mixHash(intro)
    this.#mixHash(clientEphemeral)
    this.#mixHash(this.#ephemeral.public)
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, clientEphemeral))
    const encryptedStatic = this.#encrypt(this.#certificate.static.public)
    this.#mixKey(Curve.sharedKey(this.#certificate.static.private, clientEphemeral))
    const payload = this.#encrypt(this.#certificate.chain)
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.#ephemeral.public, static: encryptedStatic, payload },
    }).finish()
  }

  /** Reads the client's second frame. From now on both sides use the transport keys. */
  finish(frame: Buffer): FinishedHandshake {
    const finish = proto.HandshakeMessage.decode(frame).clientFinish
    if (!finish?.static || !finish.payload) throw new Error('client finish without static key or payload')
    const clientKey = this.#decrypt(finish.static)
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, clientKey))
    const payload = proto.ClientPayload.decode(this.#decrypt(finish.payload))
    const [fromClient, toClient] = expand(empty, this.#salt)
    return { clientKey, payload, transport: makeTransport(fromClient, toClient) }
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = createHash('sha256').update(this.#hash).update(data).digest()
  }

  #mixKey(secret: Uint8Array): void {
    ;[this.#salt, this.#key] = expand(secret, this.#salt)
    this.#counter = 0
  }

  #encrypt(plaintext: Uint8Array): Buffer {
    const ciphertext = seal(plaintext, this.#key, this.#counter++, this.#hash)
    this.#mixHash(ciphertext)
    return ciphertext
  }

  #decrypt(ciphertext: Uint8Array): Buffer {
    const plaintext = open(ciphertext, this.#key, this.#counter++, this.#hash)
    this.#mixHash(ciphertext)
    return plaintext
  }
}

function makeTransport(readKey: Buffer, writeKey: Buffer): Transport {
  let reads = 0
  let writes = 0
  return {
    encrypt: (plaintext) => seal(plaintext, writeKey, writes++, empty),
    decrypt: (ciphertext) => open(ciphertext, readKey, reads++, empty),
  }
}

function expand(secret: Uint8Array, salt: Buffer): [Buffer, Buffer] {
  const bytes = Buffer.from(hkdfSync('sha256', secret, salt, empty, 64))
  return [bytes.subarray(0, 32), bytes.subarray(32)]
}

function seal(plaintext: Uint8Array, key: Buffer, counter: number, aad: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(counter)).setAAD(aad)
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

function open(ciphertext: Uint8Array, key: Buffer, counter: number, aad: Buffer): Buffer {
  const end = ciphertext.length - tagBytes
  const decipher = createDecipheriv('aes-256-gcm', key, nonce(counter))
    .setAAD(aad)
    .setAuthTag(ciphertext.subarray(end))
  return Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()])
}

function nonce(counter: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(counter, 8)
  return bytes
}
