import { createHmac, hkdfSync } from 'node:crypto'

/** As long as a phone remembers what it has scanned. */
const memoryMs = 300_000
const keyBytes = 32

/**
 * Proves to the phone that this device has the secret that the phone knows from the QR code, or from the typed code. Its
 * person then need not compare codes.
 */
export type PasskeyHandoff = {
  /** WhatsApp asks for the passkey, and the secret (base64) is about to be replaced. */
  begin(secret: string): void
  /** Undefined when there is nothing that the phone would remember. */
  prove(prologue: Uint8Array): Uint8Array | undefined
  /** WhatsApp has taken the proof to the phone. */
  end(): void
}

export function makePasskeyHandoff(): PasskeyHandoff {
  let isBegun = false
  let key: Buffer | undefined
  let untilMs = 0

  return {
    begin(secret) {
      // When WhatsApp asks again, the secret is another one, which no phone has seen.
      if (isBegun) return
      isBegun = true
      const [bytes, salt] = [Buffer.from(secret, 'base64'), Buffer.alloc(0)]
      key = Buffer.from(hkdfSync('sha256', bytes, salt, 'shortcake-passkey-handoff-v1', keyBytes))
      untilMs = performance.now() + memoryMs
    },
    prove(prologue) {
      if (!key || performance.now() >= untilMs) return undefined
      return createHmac('sha256', key).update(prologue).digest()
    },
    end() {
      key = undefined
    },
  }
}
