import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { SimulatorError } from '../simulator-error.ts'
import type { QrContent } from '../stanzas/pairing.ts'

const fields = 5

/** Reads a QR code from its text or a PNG (base64 or data URL). */
export function readQr(qr: string): QrContent {
  const trimmed = qr.trim()
  const text = looksLikeText(trimmed) ? trimmed : decodePng(trimmed)
  const payload = text.includes('#') ? text.slice(text.indexOf('#') + 1) : text
  const [ref, noiseKey, identityKey, advSecret] = payload.split(',')
  if (!ref || !noiseKey || !identityKey || !advSecret) {
    throw new SimulatorError('This is not a QR of WhatsApp: five parts, separated by commas, are expected.')
  }
  return { ref, noiseKey, identityKey, advSecret }
}

function looksLikeText(qr: string): boolean {
  return !qr.startsWith('data:') && qr.split(',').length >= fields - 1
}

function decodePng(encoded: string): string {
  const base64 = encoded.startsWith('data:') ? encoded.slice(encoded.indexOf(',') + 1) : encoded
  const image = parsePng(Buffer.from(base64, 'base64'))
  const found = readCode(new Uint8ClampedArray(image.data), image.width, image.height)
  if (!found) throw new SimulatorError('There is no readable QR in this picture.')
  return found.data
}

function parsePng(bytes: Buffer): PNG {
  try {
    return PNG.sync.read(bytes)
  } catch {
    throw new SimulatorError('The QR is neither the text of one nor a PNG.')
  }
}

// jsqr is CommonJS whose module is the function itself; its types know only `default`.
const readCode = jsQR as unknown as typeof jsQR.default
