import { type BinaryNode, getBinaryNodeChild, type WASocket } from 'baileys'
import type { LinkingSecret } from '../credentials/linking-secret.ts'
import { intercept } from '../network/intercept.ts'

const firstMs = 60_000
const laterMs = 20_000

/** `expiresAtMs`: on the clock of this machine. */
export type QrCode = { text: string; expiresAtMs: number }

/** The QR codes of one connection. Baileys shows them one after another. */
export type QrCodes = {
  /** False when those that WhatsApp gave are used up. */
  show(text: string): Promise<boolean>
  /** The present one with the secret as it is now, valid no longer than before. Undefined when none is shown. */
  renew(): QrCode | undefined
  /** WhatsApp asks for a passkey: the QR code was scanned. */
  stop(): void
}

export function makeQrCodes(
  sock: Pick<WASocket, 'ws'>,
  secret: Pick<LinkingSecret, 'current'>,
  onQr: (code: QrCode) => Promise<void>,
): QrCodes {
  addSpareRefs(sock)
  let lifeMs = firstMs
  let isStopped = false
  let shown: QrCode | undefined

  return {
    async show(text) {
      if (isStopped) return true
      if (isSpare(text)) {
        shown = undefined
        return false
      }
      shown = { text: withSecret(text, secret.current()), expiresAtMs: Date.now() + lifeMs }
      lifeMs = laterMs
      await onQr(shown)
      return true
    },
    renew() {
      if (isStopped || !shown) return undefined
      shown = { ...shown, text: withSecret(shown.text, secret.current()) }
      return shown
    },
    stop() {
      isStopped = true
    },
  }
}

/** Baileys reads the secret once, for all QR codes of a connection. It is their fourth part. */
function withSecret(qr: string, secret: string): string {
  return qr
    .split(',')
    .map((part, index) => (index === 3 ? secret : part))
    .join(',')
}

const prefix = 'spare-'
/** Baileys shows each of them for 20 s: 15 minutes. */
const spares = 45

/**
 * Baileys ends the connection when the references that WhatsApp gave for QR codes run out. A passkey takes longer than
 * that, so there are more: QR codes with them link nothing.
 */
function addSpareRefs({ ws }: Pick<WASocket, 'ws'>): void {
  intercept(ws, 'CB:iq,type:set,pair-device', (node, passOn) => {
    const pairDevice = getBinaryNodeChild(node, 'pair-device')
    if (pairDevice && Array.isArray(pairDevice.content)) {
      pairDevice.content.push(...Array.from({ length: spares }, (_, index) => refNode(`${prefix}${index}`)))
    }
    void passOn()
  })
}

function isSpare(qr: string): boolean {
  return qr.includes(`#${prefix}`)
}

function refNode(ref: string): BinaryNode {
  return { tag: 'ref', attrs: {}, content: Buffer.from(ref) }
}
