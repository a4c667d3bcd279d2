import { createRequire } from 'node:module'

/**
 * Two people who write to each other for the first time at once have two Signal sessions. libsignal tries both when a
 * message comes, and an attempt changes the session that it fails with: what is sent through that one afterwards cannot
 * be decrypted. Here an attempt that fails leaves its session as it was.
 */
type Session = { serialize(): unknown }
type SessionClass = { deserialize(stored: unknown): Session }
type Cipher = { doDecryptWhisperMessage(message: Buffer, session: Session): Promise<Buffer> }

// The copy that Baileys uses, whatever else is installed.
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
