import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { SimulatorError } from '../network/simulator-error.ts'
import type { QrContent } from '../stanzas/pairing.ts'

const fields = 5

/** Reads a QR code from its text or a PNG (base64 or data URL). */
export function readQr(qr: string): QrContent {
  const trimmed = qr.trim()
  const text = looksLikeText(trimmed) ? trimmed : decodePng(trimmed)
  const payload = text.includes('#') ? text.slice(text.indexOf('#') + 1) : text
  const [ref, noiseKey, identityKey, advSecret] = payload.split(',')
  if (!ref || !noiseKey || !identityKey || !advSecret) {
    throw new SimulatorError(
      'The QR code is not one of WhatsApp. Its text has five parts, separated by commas.',
    )
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
  if (!found)
    throw new SimulatorError('The picture contains no readable QR code. Send a sharp PNG of the whole code.')
  return found.data
}

function parsePng(bytes: Buffer): PNG {
  try {
    return PNG.sync.read(bytes)
  } catch {
    throw new SimulatorError('The QR code is neither text nor a PNG. Send one of them.')
  }
}

// jsqr is CommonJS whose module is the function itself; its types know only `default`.
const readCode = jsQR as unknown as typeof jsQR.default
