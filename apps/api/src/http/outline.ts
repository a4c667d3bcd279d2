import { AppError } from '../errors/app-error.ts'

/** Strings from this length are long: they are read apart from the rest of the body. */
export const longBytesMin = 32 * 1024
const longStringsMax = 8
/** Of a body without its long strings. */
const outlineBytesMax = 64 * 1024

/** Throws `payload_too_large` for a body that is large for any other reason than a few long strings. */
export function refuseLargeOutline(outlineBytes: number, longStrings = 0): void {
  if (outlineBytes <= outlineBytesMax && longStrings <= longStringsMax) return
  const sentence = `Without the value of url, the body is larger than ${outlineBytesMax / 1024} KiB.`
  throw new AppError('payload_too_large', sentence)
}
