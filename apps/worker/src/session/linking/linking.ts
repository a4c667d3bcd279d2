import type { WASocket } from 'baileys'
import { makeLinkingSecret } from '../credentials/linking-secret.ts'
import { answerBeforeLogin, isLinked } from './before-login.ts'
import { type DeviceKeys, type PasskeyLink, type RequestOptions, watchPasskey } from './passkey.ts'
import { makeQrCodes, type QrCode, type QrCodes } from './qr-codes.ts'

/** The ways in which a connection links a device. Baileys knows one of them, the QR code. */
export type Linking = { showQr: QrCodes['show']; passkey: PasskeyLink }

export type LinkingHooks = {
  /** There is a new QR code to scan. */
  onQr(code: QrCode): Promise<void>
  /**
   * WhatsApp has retired the secret of the QR codes, which link nothing any more. `code` replaces the one that is shown, if
   * any is. Once this resolves, WhatsApp is told that there is a new secret.
   */
  onQrRetired(code: QrCode | undefined): Promise<void>
}

export function openLinking(
  sock: Pick<WASocket, 'ws' | 'query' | 'sendNode'>,
  creds: DeviceKeys,
  hooks: LinkingHooks & {
    onPasskeyAsked(options: RequestOptions): void
    onError(error: unknown): void
    /** Runs a step after those that were begun before, and rejects as it does. */
    inOrder(step: () => Promise<void>): Promise<void>
  },
): Linking {
  const secret = makeLinkingSecret(creds)
  const qrCodes = makeQrCodes(sock, secret, hooks.onQr)
  const passkey = watchPasskey(sock, creds, secret, {
    onAsked(options) {
      qrCodes.stop()
      hooks.onPasskeyAsked(options)
    },
    onError: hooks.onError,
  })
  answerBeforeLogin(sock, creds, {
    // After the QR codes and the scan that Baileys has told of before.
    onSecretRetired: () =>
      hooks.inOrder(async () => {
        if (!isLinked(creds) && secret.retire()) await hooks.onQrRetired(qrCodes.renew())
      }),
    onCodeTyped: () => secret.hold(),
    onError: hooks.onError,
  })
  return { showQr: qrCodes.show, passkey }
}
