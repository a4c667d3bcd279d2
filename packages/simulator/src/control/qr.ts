import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { SimulatorError } from '../network/simulator-error.ts'
import type { QrContent } from '../stanzas/pairing.ts'

const fields = 5
const notOfWhatsApp =
  'This is not the text of a WhatsApp QR code. It begins with https://wa.me/settings/linked_devices# or 2@, and has five parts, separated by commas.'

/** Reads a QR code from its text or a PNG (base64 or data URL). */
export function readQr(qr: string): QrContent {
  const trimmed = qr.trim()
  const text = looksLikeText(trimmed) ? trimmed : decodePng(trimmed)
  const payload = text.includes('#') ? text.slice(text.indexOf('#') + 1) : text
  const [ref, noiseKey, identityKey, advSecret] = payload.split(',')
  if (!ref || !noiseKey || !identityKey || !advSecret) {
    throw new SimulatorError(notOfWhatsApp)
  }
  return { ref, noiseKey, identityKey, advSecret }
}

function looksLikeText(qr: string): boolean {
  return !qr.startsWith('data:') && qr.split(',').length >= fields - 1
}

function decodePng(encoded: string): string {
  const base64 = encoded.startsWith('data:') ? encoded.slice(encoded.indexOf(',') + 1) : encoded
  if (encoded.startsWith('data:') && !base64.startsWith(pngBegins))
    throw new SimulatorError('The picture is not a PNG. Send a PNG.')
  const image = parsePng(base64)
  const found = readCode(new Uint8ClampedArray(image.data), image.width, image.height)
  if (!found)
    throw new SimulatorError('The picture contains no readable QR code. Send a sharp PNG of the whole code.')
  return found.data
}

/** The beginning of every PNG, in base64. */
const pngBegins = 'iVBORw0KGgo'

function parsePng(base64: string): PNG {
  if (!base64.startsWith(pngBegins)) throw new SimulatorError(notOfWhatsApp)
  try {
    return PNG.sync.read(Buffer.from(base64, 'base64'))
  } catch {
    throw new SimulatorError('The PNG cannot be read. Send the whole picture.')
  }
}

// jsqr is CommonJS whose module is the function itself; its types know only `default`.
const readCode = jsQR as unknown as typeof jsQR.default
