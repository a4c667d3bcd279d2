const headerCharsMax = 8192

/**
 * The file name of a Content-Disposition header, as Node reads it: a character for each byte. Hosts write names in UTF-8,
 * Latin-1, percent-encoding and the encoded words of mail, whatever RFC 6266 allows.
 */
export function filenameOfDisposition(header: string | undefined): string | undefined {
  const given = header?.slice(0, headerCharsMax) ?? ''
  const extended = /(?:^|[;\s])filename\*\s*=\s*"?([\w-]*)'[^']*'([^;"\s]*)/i.exec(given)
  const exact = extended && decodeExtended(extended[1] ?? '', extended[2] ?? '')
  if (exact) return exact
  const [, quoted, plain] = /(?:^|[;\s])filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;"]*))/i.exec(given) ?? []
  // Windows paths have a backslash that escapes nothing.
  const raw = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain?.trim()
  return raw ? decodePlain(raw) : undefined
}

/** RFC 8187. */
function decodeExtended(charset: string, encoded: string): string | undefined {
  const bytes = percentDecoded(encoded)
  return /^utf-?8$/i.test(charset) ? asText(bytes) : decodeAs(charset || 'utf-8', bytes)
}

/** RFC 2047, 2. */
const encodedWord = /=\?([\w-]{1,40})\?([bq])\?([^?\s]*)\?=/gi

function decodePlain(raw: string): string {
  const words = raw.replaceAll(/\?=\s+=\?/g, '?==?').replaceAll(encodedWord, (word, charset, kind, text) => {
    const bytes =
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64')
        : percentDecoded(text.replaceAll('_', ' ').replaceAll('=', '%'))
    return decodeAs(charset, bytes) ?? word
  })
  if (words !== raw) return words
  // As browsers do, although it should be written with `filename*`.
  const decoded = /%[\da-f]{2}/i.test(raw) ? decodeAs('utf-8', percentDecoded(raw)) : undefined
  return decoded ?? asText(Buffer.from(raw, 'latin1'))
}

function percentDecoded(text: string): Buffer {
  const bytes = text.replaceAll(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

/** UTF-8, or Latin-1 where it cannot be that. */
function asText(bytes: Buffer): string {
  return decodeAs('utf-8', bytes) ?? new TextDecoder('windows-1252').decode(bytes)
}

/** Undefined for an unknown character set, and for bytes that are not of it. */
function decodeAs(charset: string, bytes: Buffer): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
