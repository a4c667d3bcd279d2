import { AppError } from '../errors/app-error.ts'
import { inSlices } from '../http/in-slices.ts'

export type DataUrl = { mime: string | undefined; bytes: Buffer }

const headerCharsMax = 256

/** Accepts only `data:<mime>;base64,<bytes>`. `mime` is undefined when it is missing or not a plain type. */
export async function parseDataUrl(text: string): Promise<DataUrl> {
  const comma = text.indexOf(',')
  if (comma === -1 || comma > headerCharsMax) throw invalid('has no data')
  const [claimed = '', ...attributes] = text.slice('data:'.length, comma).toLowerCase().split(';')
  if (attributes.length !== 1 || attributes[0] !== 'base64') {
    throw invalid('must begin with data:<type>;base64,')
  }
  const base64 = text.slice(comma + 1)
  if (base64 === '') throw invalid('has no data')
  const bytes = await decodeStrictly(base64)
  if (!bytes) throw invalid('is not valid base64')
  return { mime: /^[a-z]+\/[a-z0-9.+-]+$/.test(claimed) ? claimed : undefined, bytes }
}

/**
 * Node's decoder also accepts the URL-safe alphabet and skips every other character, which shows in the length of the
 * result. Four times as fast as a regular expression, which matters for megabytes on the event loop.
 */
async function decodeStrictly(base64: string): Promise<Buffer | undefined> {
  if (base64.length % 4 !== 0 || base64.includes('-') || base64.includes('_')) return undefined
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const bytes = Buffer.allocUnsafe((base64.length / 4) * 3 - padding)
  let size = 0
  for await (const slice of inSlices(base64)) size += bytes.write(slice, size, 'base64')
  return size === bytes.length ? bytes : undefined
}

function invalid(message: string): AppError {
  return new AppError('invalid_media', `The data URL ${message}.`, {
    details: [{ parameter: 'url', message }],
  })
}
