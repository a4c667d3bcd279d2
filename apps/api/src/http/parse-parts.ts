import { cleanFilename } from '@wagate/shared/file-names'
import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { inSlices } from './in-slices.ts'
import { longBytesMin, refuseLargeOutline } from './outline.ts'
import { notUtf8 } from './parse-form.ts'
import { fileNameIn } from './read-multipart.ts'

/** A part of a form that has a file name. */
export class FormFile {
  readonly name: string
  readonly filename: string
  /** As the form says. */
  readonly mime: string | undefined
  readonly bytes: Buffer

  constructor(name: string, filename: string, mime: string | undefined, bytes: Buffer) {
    this.name = name
    this.filename = filename
    this.mime = mime
    this.bytes = bytes
  }
}

const partsMax = 10_000
const headersBytesMax = 8 * 1024
const headersEnd = Buffer.from('\r\n\r\n')

/**
 * The fields and files of a multipart/form-data body that is in memory. Throws `malformed_json`, `invalid_parameter` and
 * `payload_too_large`.
 */
export function parseParts(bytes: Buffer, boundary: string): [name: string, value: string | FormFile][] {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const found: [string, string | FormFile][] = []
  let outlineBytes = 0
  let longStrings = 0
  // The first delimiter may have no line before it.
  let at = bytes.indexOf(delimiter.subarray(2))
  if (at !== 0) at = indexAfter(bytes, delimiter, 0) - delimiter.length + 2
  at += delimiter.length - 2
  // After the last part, the delimiter is followed by two hyphens.
  while (bytes.toString('latin1', at, at + 2) !== '--') {
    if (found.length === partsMax) {
      throw new AppError('payload_too_large', `The form has more than ${partsMax} parts.`)
    }
    const start = indexAfter(bytes.subarray(0, at + headersBytesMax), headersEnd, at)
    const end = indexAfter(bytes, delimiter, start - 2) - delimiter.length
    const headers = bytes.toString('utf8', at, start)
    const content = bytes.subarray(start, Math.max(start, end))
    const part = readPart(headers, content)
    if (typeof part[1] === 'string') {
      if (content.length > longBytesMin) longStrings += 1
      else outlineBytes += content.length + headers.length
      refuseLargeOutline(outlineBytes, longStrings)
    }
    found.push(part)
    at = end + delimiter.length
  }
  return found
}

function indexAfter(bytes: Buffer, wanted: Buffer, from: number): number {
  const at = bytes.indexOf(wanted, from)
  if (at !== -1) return at + wanted.length
  throw new AppError(
    'malformed_json',
    'The form is not valid multipart/form-data: a part does not begin or end with the boundary.',
  )
}

function readPart(headers: string, content: Buffer): [name: string, value: string | FormFile] {
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? ''
  const [, quoted, plain = ''] = /;\s*name=(?:"([^"]*)"|([^;\s]*))/i.exec(disposition) ?? []
  const name = (quoted ?? plain).replaceAll('%22', '"')
  const type = /^content-type:(.*)$/im.exec(headers)?.[1]?.trim().toLowerCase() ?? ''
  const filename = fileNameIn(headers)
  if (filename !== undefined) {
    const mime = /^[\w.+-]+\/[\w.+-]+/.exec(type)?.[0]
    return [name, new FormFile(name, filename, mime, content)]
  }
  const charset = /;\s*charset="?([^"\s;]+)/.exec(type)?.[1] ?? 'utf-8'
  if (!isUtf8(charset))
    throw invalidParameter(name.slice(0, 100), `must be in UTF-8, not in ${charset.slice(0, 40)}`)
  try {
    return [name, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)]
  } catch {
    throw notUtf8(name)
  }
}

/** Of the label of a character set. ASCII is a part of UTF-8. */
export const isUtf8 = (charset: string) => ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset)

/**
 * The fields of a form in which a file came, with the file as the `url` that it would have as text, with its name. Throws
 * `duplicate_parameter` and `invalid_parameter`.
 */
export async function withFileAsUrl(
  given: [name: string, value: unknown][],
): Promise<[name: string, value: unknown][]> {
  const files = given.flatMap(([, value]) => (value instanceof FormFile && !isUnchosen(value) ? [value] : []))
  const fields = given.filter(([, value]) => !(value instanceof FormFile))
  const [file, second] = files
  if (!file) return fields
  if (second) throw invalidParameter(second.name.slice(0, 100), 'is a second file: send one in each request')
  const isGiven = (wanted: string) => fields.some(([name, value]) => name === wanted && value !== '')
  if (isGiven('url')) throw invalidParameter('url', 'cannot be given together with a file')
  const others = fields.filter(([name, value]) => value !== '' || (name !== 'url' && name !== 'filename'))
  return [...others, ['url', await toDataUrl(file)]]
}

/** What browsers send for a field in which no file was chosen. */
const isUnchosen = ({ filename, bytes }: FormFile) => filename === '' && bytes.length === 0

/** Three bytes are four characters. */
const wholeCharacters = (slice: Buffer) => slice.subarray(0, slice.length - (slice.length % 3))

async function toDataUrl({ mime = '', filename, bytes }: FormFile): Promise<string> {
  const name = cleanFilename(filename)
  let url = `data:${mime}${name ? `;filename=${encodeURIComponent(name)}` : ''};base64,`
  for await (const slice of inSlices(bytes, wholeCharacters)) url += slice.toString('base64')
  return url
}
