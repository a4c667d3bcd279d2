import { toBuffer } from 'qrcode'

/** PNG in base64; 4 modules of quiet zone are what scanners ask for. */
export async function drawQr(text: string): Promise<string> {
  const png = await toBuffer(text, { margin: 4, scale: 6, errorCorrectionLevel: 'L' })
  return png.toString('base64')
}
