import { requireOfBaileys } from './require-of-baileys.ts'

/**
 * Two contacts that write to each other for the first time simultaneously have two Signal sessions. libsignal tries both
 * when a message arrives, and a failed attempt changes its session: messages sent through that session afterwards cannot be
 * decrypted. Here a failed attempt leaves its session unchanged.
 */
type Session = { serialize(): unknown }
type SessionClass = { deserialize(stored: unknown): Session }
type Cipher = { doDecryptWhisperMessage(message: Buffer, session: Session): Promise<Buffer> }

const { prototype } = requireOfBaileys('libsignal/src/session_cipher.js') as { prototype: Cipher }
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
