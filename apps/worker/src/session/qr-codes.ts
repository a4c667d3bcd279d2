import { type BinaryNode, getBinaryNodeChild, type WASocket } from 'baileys'
import { intercept } from './intercept.ts'

const firstMs = 60_000
const laterMs = 20_000

/** The QR codes of one connection. Baileys shows them one after another. */
export type QrCodes = {
  /** False when those that WhatsApp gave are used up. */
  show(text: string): Promise<boolean>
  /** WhatsApp asks for a passkey: the QR code was scanned. */
  stop(): void
}

export function makeQrCodes(
  sock: Pick<WASocket, 'ws'>,
  onQr: (text: string, lifeMs: number) => Promise<void>,
): QrCodes {
  addSpareRefs(sock)
  let lifeMs = firstMs
  let isStopped = false
  return {
    async show(text) {
      if (isStopped) return true
      if (isSpare(text)) return false
      await onQr(text, lifeMs)
      lifeMs = laterMs
      return true
    },
    stop() {
      isStopped = true
    },
  }
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
