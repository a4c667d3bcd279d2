/** Control characters, and what JSON escapes. */
const otherCharacters = [...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)), '"', '\\']

/**
 * True for ASCII that JSON contains as it is, such as base64. Searching megabytes for each character in turn takes a third
 * of the time of a regular expression, of JSON.parse or of JSON.stringify.
 */
export function isPlainText(text: string): boolean {
  return Buffer.byteLength(text) === text.length && !otherCharacters.some((other) => text.includes(other))
}
