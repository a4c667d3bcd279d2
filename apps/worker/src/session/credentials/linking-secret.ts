import { randomBytes } from 'node:crypto'
import type { AuthenticationCreds } from 'baileys'

/** A phone that proves a link answers within seconds. */
const proofMsMax = 60_000

/**
 * The secret with which a phone proves to a device that it wants this link. It is part of the QR code, is agreed on after a
 * typed code, and is told to the phone after a passkey.
 */
export type LinkingSecret = {
  /** Base64. */
  current(): string
  /**
   * WhatsApp has retired it. True when there is a new one at once; false while a phone may be proving the link with this
   * one, which is replaced when it did not.
   */
  retire(): boolean
  /** Whoever saw the QR code may know it. */
  replace(): void
  /**
   * A phone proves the link with it as it is now, or as Baileys is about to set it. By default it has the time of a phone
   * that asks its person for nothing.
   */
  hold(forMs?: number): void
}

export function makeLinkingSecret(creds: Pick<AuthenticationCreds, 'advSecretKey'>): LinkingSecret {
  let heldUntilMs = 0
  let isRetired = false

  function replace(): void {
    creds.advSecretKey = randomBytes(32).toString('base64')
    heldUntilMs = 0
    isRetired = false
  }

  function retire(): boolean {
    isRetired = true
    if (performance.now() < heldUntilMs) return false
    replace()
    return true
  }

  return {
    current() {
      if (isRetired) retire()
      return creds.advSecretKey
    },
    retire,
    replace,
    hold(forMs = proofMsMax) {
      heldUntilMs = performance.now() + forMs
    },
  }
}
