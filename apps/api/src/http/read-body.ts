import { AppError } from '@wagate/shared/app-error'

/** What a body waits for: each may refuse it by rejecting. */
export type Admission = {
  toRead(bytesMax: number): Promise<void>
  toParse(): Promise<void>
}

/** The names and values of a JSON object or a form. An empty body is an empty object, whatever its type. */
export async function readBody(
  request: Request,
  bytesMax: number,
  admission?: Admission,
): Promise<[name: string, value: unknown][]> {
  const { type, charset } = readContentType(request.headers.get('content-type'))
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'A compressed body is not supported.')
  }
  const bytes = await readBytes(request, bytesMax, admission)
  await admission?.toParse()
  const text = decode(bytes)
  const start = text.trimStart()[0]
  if (start === undefined) return []
  if (charset !== 'utf-8') throw new AppError('unsupported_media_type', 'The body must be UTF-8.')
  // `curl -d '{...}'` names the type of a form, other clients none at all.
  const looksLikeJson = start === '{' || start === '['
  if (type === 'application/json' || (looksLikeJson && (type === formType || type === '')))
    return parseJson(text)
  if (type === formType) return [...new URLSearchParams(text)]
  throw new AppError('unsupported_media_type', `The body must be application/json or ${formType}.`)
}

const formType = 'application/x-www-form-urlencoded'

function readContentType(header: string | null): { type: string; charset: string } {
  const [type = '', ...attributes] = (header ?? '').toLowerCase().split(';')
  const charset = attributes.map((text) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(text)?.[1]).find(Boolean)
  return { type: type.trim(), charset: charset === 'utf8' ? 'utf-8' : (charset ?? 'utf-8') }
}

async function readBytes(
  request: Request,
  bytesMax: number,
  admission: Admission | undefined,
): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError('payload_too_large', `The body is larger than ${Math.floor(bytesMax / 1024)} KiB.`)
  const announced = request.headers.get('content-length')
  if (announced !== null) {
    // The HTTP parser passes on no more than was announced.
    if (Number(announced) > bytesMax) throw tooLarge()
    await admission?.toRead(Number(announced))
    return new Uint8Array(await request.arrayBuffer())
  }
  await admission?.toRead(bytesMax)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size <= bytesMax) chunks.push(chunk)
    // Read on: a connection with half a body in it is closed half a second later, under the client's next request.
    else if (size > 2 * bytesMax) break
  }
  if (size > bytesMax) throw tooLarge()
  return Buffer.concat(chunks)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not valid UTF-8.', { cause })
  }
}

function parseJson(text: string): [name: string, value: unknown][] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not valid JSON.', { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('malformed_json', 'The body must be a JSON object.')
  }
  return Object.entries(value)
}
