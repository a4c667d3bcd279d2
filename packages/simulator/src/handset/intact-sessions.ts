import { SessionCipher } from 'libsignal'

/**
 * On a phone, a failed decryption does not change the session; in libsignal for Node it does. Two contacts that write to
 * each other for the first time at the same moment have two sessions, and each message is tried with both.
 */
type Session = { serialize(): unknown }
type SessionClass = { deserialize(stored: unknown): Session }
type Cipher = { doDecryptWhisperMessage(message: Buffer, session: Session): Promise<Buffer> }

const prototype = SessionCipher.prototype as unknown as Cipher
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
