import { createRequire } from 'node:module'

/**
 * Two contacts that write to each other for the first time simultaneously have two Signal sessions. libsignal tries both
 * when a message arrives, and a failed attempt changes its session: messages sent through that session afterwards cannot be
 * decrypted. Here a failed attempt leaves its session unchanged.
 */
type Session = { serialize(): unknown }
type SessionClass = { deserialize(stored: unknown): Session }
type Cipher = { doDecryptWhisperMessage(message: Buffer, session: Session): Promise<Buffer> }

// The copy that Baileys uses, which need not be the only one installed.
const require = createRequire(import.meta.resolve('baileys'))
const { prototype } = require('libsignal/src/session_cipher.js') as { prototype: Cipher }
const decrypt = prototype.doDecryptWhisperMessage

prototype.doDecryptWhisperMessage = async function decryptOrRestore(message, session) {
  const before = session?.serialize()
  try {
    return await decrypt.call(this, message, session)
  } catch (error) {
    if (session) Object.assign(session, (session.constructor as never as SessionClass).deserialize(before))
    throw error
  }
}
