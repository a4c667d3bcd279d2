import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { Curve, NOISE_WA_HEADER, proto } from 'baileys'

const tagBytes = 16
const { HandshakeMessage } = proto

/** The client's side of a handshake, as WhatsApp Web does it: XX, or IK with XXfallback when the server wants that. */
export class NoiseInitiator {
  readonly key = Curve.generateKeyPair()
  readonly #ephemeral = Curve.generateKeyPair()
  readonly #payload: Uint8Array
  #hash: Buffer = Buffer.alloc(0)
  #salt: Buffer = Buffer.alloc(0)
  #key: Buffer = Buffer.alloc(0)
  #counter = 0
  #isResuming = false

  constructor(payload: Uint8Array) {
    this.#payload = payload
  }

  start(): Uint8Array {
    this.#begin('XX')
    return HandshakeMessage.encode({ clientHello: { ephemeral: this.#ephemeral.public } }).finish()
  }

  /** With a key of the server that is known from before. */
  resume(serverKey: Uint8Array): Uint8Array {
    this.#isResuming = true
    this.#begin('IK', serverKey)
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, serverKey))
    const encrypted = this.#encrypt(this.key.public)
    this.#mixKey(Curve.sharedKey(this.key.private, serverKey))
    const payload = this.#encrypt(this.#payload)
    const { public: ephemeral } = this.#ephemeral
    return HandshakeMessage.encode({ clientHello: { ephemeral, static: encrypted, payload } }).finish()
  }

  finish(answer: Uint8Array) {
    const { serverHello } = HandshakeMessage.decode(answer)
    if (!serverHello?.ephemeral || !serverHello.static?.length || !serverHello.payload) {
      throw new Error('the server does not fall back')
    }
    if (this.#isResuming) this.#begin('XXfallback')
    this.#mixHash(serverHello.ephemeral)
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, serverHello.ephemeral))
    const serverKey = this.#decrypt(serverHello.static)
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, serverKey))
    this.#decrypt(serverHello.payload)
    const encrypted = this.#encrypt(this.key.public)
    this.#mixKey(Curve.sharedKey(this.key.private, serverHello.ephemeral))
    const payload = this.#encrypt(this.#payload)
    const finish = HandshakeMessage.encode({ clientFinish: { static: encrypted, payload } }).finish()
    const [writeKey] = expand(Buffer.alloc(0), this.#salt)
    return {
      serverKey,
      finish,
      encrypt: (plaintext: Uint8Array) => seal(plaintext, writeKey, 0, Buffer.alloc(0)),
    }
  }

  #begin(pattern: string, known?: Uint8Array): void {
    const name = `Noise_${pattern}_25519_AESGCM_SHA256`
    this.#hash =
      name.length > 32
        ? createHash('sha256').update(name).digest()
        : Buffer.concat([Buffer.from(name), Buffer.alloc(32 - name.length)])
    this.#salt = this.#key = this.#hash
    this.#counter = 0
    this.#mixHash(NOISE_WA_HEADER)
    if (known) this.#mixHash(known)
    this.#mixHash(this.#ephemeral.public)
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
    const end = ciphertext.length - tagBytes
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce(this.#counter++))
      .setAAD(this.#hash)
      .setAuthTag(ciphertext.subarray(end))
    const plaintext = Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()])
    this.#mixHash(ciphertext)
    return plaintext
  }
}

function expand(secret: Uint8Array, salt: Uint8Array): [Buffer, Buffer] {
  const bytes = Buffer.from(hkdfSync('sha256', secret, salt, Buffer.alloc(0), 64))
  return [bytes.subarray(0, 32), bytes.subarray(32)]
}

function seal(plaintext: Uint8Array, key: Buffer, counter: number, aad: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(counter)).setAAD(aad)
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

function nonce(counter: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(counter, 8)
  return bytes
}
