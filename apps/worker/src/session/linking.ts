import type { WASocket } from 'baileys'
import { type DeviceKeys, type PasskeyLink, type RequestOptions, watchPasskey } from './passkey.ts'
import { makeQrCodes, type QrCodes } from './qr-codes.ts'

/** The ways in which a connection links a device. Baileys knows one of them, the QR code. */
export type Linking = { showQr: QrCodes['show']; passkey: PasskeyLink }

export function openLinking(
  sock: Pick<WASocket, 'ws' | 'query'>,
  creds: DeviceKeys,
  hooks: {
    onQr(text: string, lifeMs: number): Promise<void>
    onPasskeyAsked(options: RequestOptions): void
    onError(error: unknown): void
  },
): Linking {
  const qrCodes = makeQrCodes(sock, hooks.onQr)
  const passkey = watchPasskey(sock, creds, {
    onAsked(options) {
      qrCodes.stop()
      hooks.onPasskeyAsked(options)
    },
    onError: hooks.onError,
  })
  return { showQr: qrCodes.show, passkey }
}
