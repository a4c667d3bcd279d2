import { toBuffer } from 'qrcode'

/** A base64 PNG. The margin is in modules: scanners need a quiet zone of 4. */
export async function renderQr(text: string): Promise<string> {
  const png = await toBuffer(text, { margin: 4, scale: 6, errorCorrectionLevel: 'L' })
  return png.toString('base64')
}
