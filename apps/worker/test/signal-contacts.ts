import { randomBytes } from 'node:crypto'
import {
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  generateSignalPubKey,
  initAuthCreds,
  type SignalKeyStore,
  type UserFacingSocketConfig,
} from 'baileys'
import { silent } from './silent-logger.ts'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>
type Bundle = Parameters<Repository['injectE2ESession']>[0]['session']
type Ciphertext = Awaited<ReturnType<Repository['encryptMessage']>>

export type SignalContact = {
  jid: string
  /** What WhatsApp returns to those who begin a session, with a pre-key that is used once. */
  offerKeys(): Promise<Bundle>
  /** Begins a session. */
  meet(other: SignalContact): Promise<void>
  encryptFor(other: SignalContact): Promise<Ciphertext>
  /** Rejects when no session decrypts it. */
  decryptFrom(other: SignalContact, ciphertext: Ciphertext): Promise<Uint8Array>
}

/** A contact with the Signal repository of Baileys, which stores its sessions with `keys`. */
export function makeSignalContact(jid: string, keys: SignalKeyStore): SignalContact {
  const creds = initAuthCreds()
  let preKeys = 0
  const withTransactions = {
    ...keys,
    isInTransaction: () => true,
    transaction: <T>(work: () => Promise<T>) => work(),
  }
  const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds, keys: withTransactions },
    silent,
    async () => [],
  )
  return {
    jid,
    async offerKeys() {
      const { registrationId, signedIdentityKey, signedPreKey } = creds
      const [keyId, preKey] = [++preKeys, Curve.generateKeyPair()]
      await keys.set({ 'pre-key': { [keyId]: preKey } })
      return {
        registrationId,
        identityKey: generateSignalPubKey(signedIdentityKey.public),
        signedPreKey: {
          keyId: signedPreKey.keyId,
          publicKey: generateSignalPubKey(signedPreKey.keyPair.public),
          signature: signedPreKey.signature,
        },
        preKey: { keyId, publicKey: generateSignalPubKey(preKey.public) },
      }
    },
    meet: async (other) => repository.injectE2ESession({ jid: other.jid, session: await other.offerKeys() }),
    encryptFor: (other) => repository.encryptMessage({ jid: other.jid, data: randomBytes(20) }),
    decryptFrom: (other, given) => repository.decryptMessage({ jid: other.jid, ...given }),
  }
}
