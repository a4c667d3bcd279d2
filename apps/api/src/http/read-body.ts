import { AppError } from '../errors/app-error.ts'
import { parseForm } from './parse-form.ts'
import { parseJsonObject } from './parse-json-object.ts'
import { isUtf8, parseParts } from './parse-parts.ts'
import { boundaryOf } from './read-multipart.ts'

/** What a large body waits for before it is read further or parsed. A rejection refuses the body. */
export type BodyAdmission = {
  /** Reserves memory; `bytes` is the total that has arrived so far. */
  reserve(bytes: number): Promise<void>
  startParsing(): Promise<void>
}

type BodyLimits = { bytesMax: number; admission?: BodyAdmission | undefined }

/**
 * The names and values of a JSON object or a form; a file in a form is a `FormFile`. An empty body of any content type counts as
 * an empty object.
 */
export async function readBody(
  request: Request,
  limits: BodyLimits,
): Promise<[name: string, value: unknown][]> {
  const { type, charset } = readContentType(request.headers.get('content-type'))
  refuseCompression(request)
  const bytes = withoutByteOrderMark(await readBytes(request, limits))
  const start = firstCharacterOf(bytes)
  if (start === undefined) return []
  const boundary = boundaryOf(request)
  if (boundary !== undefined) return parseParts(bytes, boundary)
  if (!isUtf8(charset)) {
    throw new AppError('unsupported_media_type', `The body must be in UTF-8, not in ${charset.slice(0, 40)}.`)
  }
  // `curl -d '{...}'` sends JSON with the content type of a form, other clients send none at all.
  const looksLikeJson = start === '{' || start === '['
  if (jsonTypes.test(type) || (looksLikeJson && (type === formType || type === '')))
    return parseJsonObject(bytes)
  if (type === formType) return parseForm(bytes)
  throw unsupported(type)
}

const jsonTypes = /^(?:application|text)\/(?:[\w.-]+\+)?json$/

function unsupported(type: string): AppError {
  const given = type === '' ? 'and there is no Content-Type' : `not ${type.slice(0, 60)}`
  return new AppError(
    'unsupported_media_type',
    `The body must be application/json, ${formType} or multipart/form-data, ${given}. Send a JSON object with the header Content-Type: application/json.`,
  )
}

export function refuseCompression({ headers }: Request): void {
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding === 'identity') return
  throw new AppError('unsupported_media_type', 'Compressed request bodies are not supported.')
}

const byteOrderMark = Buffer.from('\ufeff')

function withoutByteOrderMark(bytes: Buffer): Buffer {
  const start = byteOrderMark.length
  return bytes.subarray(0, start).equals(byteOrderMark) ? bytes.subarray(start) : bytes
}

/** How much of the body is searched for its first character that is not white space. */
const startBytes = 64 * 1024

function firstCharacterOf(bytes: Buffer): string | undefined {
  return (
    bytes.subarray(0, startBytes).toString().trimStart()[0] ?? (bytes.length > startBytes ? ' ' : undefined)
  )
}

const formType = 'application/x-www-form-urlencoded'

function readContentType(header: string | null): { type: string; charset: string } {
  const [type = '', ...attributes] = (header ?? '').toLowerCase().split(';')
  const charset = attributes.map((text) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(text)?.[1]).find(Boolean)
  return { type: type.trim(), charset: charset ?? 'utf-8' }
}

/** Reading a body of up to this size chunk by chunk is not worth it. */
const wholeBytesMax = 64 * 1024

async function readBytes(request: Request, { bytesMax, admission }: BodyLimits): Promise<Buffer> {
  const announced = request.headers.get('content-length')
  // The HTTP parser passes on no more bytes than were announced.
  if (announced !== null && Number(announced) > bytesMax) throw tooLarge(bytesMax)
  if (announced !== null && Number(announced) <= wholeBytesMax) {
    return Buffer.from(await inTime(request.arrayBuffer(), graceMs))
  }
  const reader = request.body?.getReader()
  if (!reader) return Buffer.alloc(0)
  try {
    const bytes = await readAll(reader, bytesMax, admission)
    await admission?.startParsing()
    return bytes
  } catch (error) {
    void discardRest(reader)
    throw error
  }
}

export type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Throws `request_timeout` when the client is too slow. Only time spent waiting for it counts. */
export async function* piecesOf(reader: Reader): AsyncGenerator<Uint8Array> {
  let size = 0
  let readMs = 0
  for (;;) {
    const startedAt = performance.now()
    const { done, value } = await inTime(reader.read().catch(brokenOff), graceMs + size / bytesPerMs - readMs)
    readMs += performance.now() - startedAt
    if (done) return
    size += value.byteLength
    yield value
  }
}

async function readAll(
  reader: Reader,
  bytesMax: number,
  admission: BodyAdmission | undefined,
): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(wholeBytesMax)
  let size = 0
  for await (const piece of piecesOf(reader)) {
    size += piece.byteLength
    if (size <= bytesMax) {
      await admission?.reserve(size)
      if (size > bytes.length)
        bytes = Buffer.concat([bytes], Math.max(size, Math.min(2 * bytes.length, bytesMax)))
      bytes.set(piece, size - piece.byteLength)
    }
    // Keep reading: the server closes a connection with an unread body half a second later, during the next request.
    else if (size > 2 * bytesMax) break
  }
  if (size > bytesMax) throw tooLarge(bytesMax)
  return bytes.subarray(0, size)
}

/** A client reads the answer only after it has sent its body. The server closes the connection half a second later. */
export async function discardRest(reader: Reader): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The client has disconnected.
  }
}

/** Added to the time that the body takes at the lowest accepted rate. */
const graceMs = 5000
const bytesPerMs = 256

function brokenOff(cause: unknown): never {
  throw new AppError('request_timeout', 'The connection ended before the end of the body.', { cause })
}

async function inTime<Result>(reading: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new AppError(
          'request_timeout',
          'The body did not arrive in time. Use a faster connection, or send a URL instead of the file.',
        ),
      )
    }, limitMs)
  })
  return Promise.race([reading, tooSlow]).finally(() => clearTimeout(timer))
}

export function tooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${Math.floor(bytesMax / 1024)} KiB.`)
}
