/** How many bytes of a file `readSigns` needs at most. */
export const signBytesMax = 16_384

/** What the bytes of a file show, whatever anyone says of it. */
export type FileSigns = {
  /** By a signature. Undefined without one. */
  mime?: string | undefined
  extension?: string | undefined
  /** The beginning can be read as text, in some encoding. */
  text?: TextSign | undefined
}

export const textSigns = ['html', 'svg', 'plain'] as const
export type TextSign = (typeof textSigns)[number]

/** Types that a file of nothing but text may have by its signature. All others have bytes that are no text. */
const textual =
  /^text\/|[+/](xml|json|rtf|pdf)$|^application\/(pgp-encrypted|x-ms-regedit|x-asar)$|^audio\/amr$|^model\//

/**
 * Weighs a signature that was `found` (by `file-type`) against the first bytes of the file: two or three letters at the
 * beginning of a text are no signature.
 */
export function readSigns(found: { mime: string; ext: string } | undefined, given: Uint8Array): FileSigns {
  const head = given.subarray(0, signBytesMax)
  const text = readText(head)
  const sign = text === undefined ? {} : { text: signOf(text) }
  if (found && (text === undefined || isTextual(found.mime, text)))
    return { mime: found.mime, extension: found.ext, ...sign }
  // Readers of PDF accept other bytes before its signature.
  if (asLatin1(head.subarray(0, 1024)).includes('%PDF-'))
    return { mime: 'application/pdf', extension: 'pdf', ...sign }
  return sign
}

function isTextual(mime: string, text: string): boolean {
  if (/\/(postscript|eps)$/.test(mime)) return text.startsWith('%!PS')
  return textual.test(mime)
}

function asLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** Undefined for bytes that are no text: all encodings avoid the control characters of ASCII. */
function readText(head: Uint8Array): string | undefined {
  if (head.length === 0) return undefined
  const wide = wideEncodingOf(head)
  const text = wide ? new TextDecoder(wide).decode(head) : asText(head)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return /[\0-\x08\x0e-\x19\x1c-\x1f\x7f]/.test(text) ? undefined : text
}

function asText(head: Uint8Array): string {
  try {
    // The end may cut a character in two.
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
  } catch {
    return asLatin1(head)
  }
}

/** UTF-16, by its mark, or by the zero that each Latin letter has in it. */
function wideEncodingOf(head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = head
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (head.length < 4) return undefined
  const zeros = [0, 0]
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = head.length / 4
  if (odd > many && even === 0) return 'utf-16le'
  return even > many && odd === 0 ? 'utf-16be' : undefined
}

const beginning = 2048
const prologue = /^(?:\s|<!--(?:(?!-->)[\s\S])*-->|<\?xml[^>]*>)*/
const htmlTags =
  /^<(?:!doctype\s+html|(?:html|head|body|table|div|meta|script|style|title|h[1-6]|p|center|font|form|span|ul|ol|base|link)[\s>])/i

function signOf(text: string): TextSign {
  const start = text
    .slice(0, beginning)
    .replace(/^\uFEFF/, '')
    .replace(prologue, '')
  if (htmlTags.test(start)) return 'html'
  return /^<(?:!doctype\s+svg|svg[\s>])/i.test(start) ? 'svg' : 'plain'
}
