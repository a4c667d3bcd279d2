import { AppError } from '../errors/app-error.ts'

type Pieces = AsyncIterable<Uint8Array>

/** `pieces` are to be read to their end, before anything else of the body. */
type MultipartFile = {
  filename: string | undefined
  claim: string | undefined
  pieces: AsyncIterable<Buffer>
}

/** Of everything before the file: other fields, and the headers of the parts. */
const beforeFileBytesMax = 64 * 1024

/**
 * The first part of a multipart/form-data body that has a file name. Throws `missing_parameter` without one, and
 * `invalid_media` when the body ends too early, also while `pieces` are read.
 */
export async function readMultipart(body: Pieces, boundary: string): Promise<MultipartFile> {
  const source = makeSource(body)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  let bytesLeft = beforeFileBytesMax

  async function readUntil(end: Buffer): Promise<string> {
    const found: Buffer[] = []
    for await (const piece of source.piecesUntil(end)) {
      bytesLeft -= piece.length
      if (bytesLeft < 0)
        throw new AppError('payload_too_large', 'Send the file as the first part of the form.')
      found.push(piece)
    }
    return Buffer.concat(found).toString()
  }

  for (;;) {
    await readUntil(delimiter)
    // After the last part, the delimiter is followed by two hyphens.
    if ((await readUntil(lineEnd)).startsWith('--')) throw noFile()
    const headers = await readUntil(headersEnd)
    const filename = fileNameIn(headers)
    if (filename === undefined) continue
    const claim = /^content-type:(.*)$/im.exec(headers)?.[1]?.trim()
    return { filename: filename || undefined, claim, pieces: source.piecesUntil(delimiter) }
  }
}

const lineEnd = Buffer.from('\r\n')
const headersEnd = Buffer.from('\r\n\r\n')

function makeSource(body: Pieces) {
  const pieces = body[Symbol.asyncIterator]()
  /** The first delimiter may have no line before it, and a part no headers. */
  let rest: Buffer = lineEnd

  return {
    /** Everything before `end`, which is skipped. */
    async *piecesUntil(end: Buffer): AsyncGenerator<Buffer> {
      for (;;) {
        const at = rest.indexOf(end)
        if (at !== -1) {
          const last = rest.subarray(0, at)
          rest = rest.subarray(at + end.length)
          if (last.length > 0) yield last
          return
        }
        // Its beginning may be at the end of this piece.
        const sure = rest.subarray(0, Math.max(0, rest.length - end.length + 1))
        rest = rest.subarray(sure.length)
        if (sure.length > 0) yield sure
        const { done, value } = await pieces.next()
        if (done) throw new AppError('invalid_media', 'The body ends before the end of the file.')
        rest = Buffer.concat([rest, value])
      }
    },
  }
}

/** Undefined for a body that is no form. Throws `unsupported_media_type`. */
export function boundaryOf({ headers }: Request): string | undefined {
  const type = headers.get('content-type') ?? ''
  if (!/^\s*multipart\//i.test(type)) return undefined
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^;\s"]{1,70}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary && /^\s*multipart\/form-data\s*;/i.test(type)) return boundary
  throw new AppError(
    'unsupported_media_type',
    'A form in parts must be multipart/form-data, and its Content-Type must name the boundary.',
  )
}

/** Undefined for a field that is no file; empty when the file has no name. */
export function fileNameIn(headers: string): string | undefined {
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? ''
  const [, quoted, plain] = /;\s*filename=(?:"([^"]*)"|([^;\s]*))/i.exec(disposition) ?? []
  const name = quoted ?? plain
  // Browsers percent-encode what a quoted name cannot contain.
  return name?.replaceAll('%22', '"')
}

function noFile(): AppError {
  const message = 'must be a part of the form that has a file name'
  return new AppError('missing_parameter', `file ${message}`, { details: [{ parameter: 'file', message }] })
}
