import { AppError } from '../errors/app-error.ts'
import { parseForm } from './parse-form.ts'
import { parseJsonObject } from './parse-json-object.ts'

/** What a large body waits for: each may refuse it by rejecting. */
export type Admission = {
  /** `bytes` have arrived so far. */
  toHold(bytes: number): Promise<void>
  toParse(): Promise<void>
}

type Limits = { bytesMax: number; admission?: Admission | undefined }

/** The names and values of a JSON object or a form. An empty body is an empty object, whatever its type. */
export async function readBody(request: Request, limits: Limits): Promise<[name: string, value: unknown][]> {
  const { type, charset } = readContentType(request.headers.get('content-type'))
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'A compressed body is not supported.')
  }
  const bytes = withoutByteOrderMark(await readBytes(request, limits))
  const start = firstCharacterOf(bytes)
  if (start === undefined) return []
  if (charset !== 'utf-8') throw new AppError('unsupported_media_type', 'The body must be UTF-8.')
  // `curl -d '{...}'` names the type of a form, other clients none at all.
  const looksLikeJson = start === '{' || start === '['
  if (type === 'application/json' || (looksLikeJson && (type === formType || type === '')))
    return parseJsonObject(bytes)
  if (type === formType) return parseForm(bytes)
  throw new AppError('unsupported_media_type', `The body must be application/json or ${formType}.`)
}

const byteOrderMark = Buffer.from('\ufeff')

function withoutByteOrderMark(bytes: Buffer): Buffer {
  const start = byteOrderMark.length
  return bytes.subarray(0, start).equals(byteOrderMark) ? bytes.subarray(start) : bytes
}

/** Looked through for something that is not white space. */
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
  return { type: type.trim(), charset: charset === 'utf8' ? 'utf-8' : (charset ?? 'utf-8') }
}

/** Up to this size it is not worth reading a body piece by piece. */
const wholeBytesMax = 64 * 1024

async function readBytes(request: Request, { bytesMax, admission }: Limits): Promise<Buffer> {
  const announced = request.headers.get('content-length')
  // The HTTP parser passes on no more than was announced.
  if (announced !== null && Number(announced) > bytesMax) throw tooLarge(bytesMax)
  if (announced !== null && Number(announced) <= wholeBytesMax) {
    return Buffer.from(await inTime(request.arrayBuffer(), graceMs))
  }
  const reader = request.body?.getReader()
  if (!reader) return Buffer.alloc(0)
  try {
    const bytes = await readAll(reader, bytesMax, admission)
    await admission?.toParse()
    return bytes
  } catch (error) {
    void discardRest(reader)
    throw error
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function readAll(reader: Reader, bytesMax: number, admission: Admission | undefined): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(wholeBytesMax)
  let size = 0
  /** Spent on the client; the wait for memory is not its fault. */
  let readMs = 0
  for (;;) {
    const startedAt = performance.now()
    const { done, value } = await inTime(reader.read(), graceMs + size / bytesPerMs - readMs)
    readMs += performance.now() - startedAt
    if (done) break
    size += value.byteLength
    if (size <= bytesMax) {
      await admission?.toHold(size)
      if (size > bytes.length)
        bytes = Buffer.concat([bytes], Math.max(size, Math.min(2 * bytes.length, bytesMax)))
      bytes.set(value, size - value.byteLength)
    }
    // Read on: a connection with half a body in it is closed half a second later, under the client's next request.
    else if (size > 2 * bytesMax) break
  }
  if (size > bytesMax) throw tooLarge(bytesMax)
  return bytes.subarray(0, size)
}

/** A client that is still sending does not read its answer. The server closes the connection half a second later. */
async function discardRest(reader: Reader): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection has ended.
  }
}

/** What a body may take beside the time that its bytes take at the lowest rate. */
const graceMs = 5000
const bytesPerMs = 256

async function inTime<Result>(reading: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new AppError('request_timeout', 'The body did not arrive in time. Send it faster, or give a URL.'),
      )
    }, limitMs)
  })
  return Promise.race([reading, tooSlow]).finally(() => clearTimeout(timer))
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${Math.floor(bytesMax / 1024)} KiB.`)
}
