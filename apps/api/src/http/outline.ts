import { AppError } from '../errors/app-error.ts'

/** A string from this length on is long: it is read apart from the rest of its body. */
export const longBytesMin = 32 * 1024
const longStringsMax = 8
/** Of a body without its long strings. */
const outlineBytesMax = 64 * 1024

/** Throws `payload_too_large` for a body that is large for another reason than a few long strings. */
export function refuseLargeOutline(outlineBytes: number, longStrings = 0): void {
  if (outlineBytes <= outlineBytesMax && longStrings <= longStringsMax) return
  const sentence = `Beside the value of url, the body is larger than ${outlineBytesMax / 1024} KiB.`
  throw new AppError('payload_too_large', sentence)
}
