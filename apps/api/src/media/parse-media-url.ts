import { weighType } from '@wagate/shared/file-evidence'
import { readSigns } from '@wagate/shared/file-signs'
import type { MediaType } from '@wagate/shared/message-kinds'
import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { fileTypeFromBuffer } from 'file-type'
import { AppError } from '../errors/app-error.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import { misfitOf, tooLargeAs } from './media-faults.ts'
import { parseDataUrl } from './parse-data-url.ts'

/** A file that came with the request. */
export type InlineFile = { mime: string; content: Buffer }

/** `url` is shown in the history; `file` is null for an http(s) URL. `filename` is that of a data: URL. */
export type ParsedMedia = { url: string; file: InlineFile | null; filename: string | null }

const urlCharsMax = 8192

/** `filename`: as the caller named the file. */
type Named = { type: MediaType; filename: string | undefined }
type MediaRules = { bytesMax: Record<MediaType, number>; allowsPrivateHosts: boolean }

/**
 * Checks an http(s) URL without resolving its host: the worker checks the addresses when it fetches the file. Throws
 * `invalid_parameter`, `media_url_forbidden`, `invalid_media` or `payload_too_large`.
 */
export async function parseMediaUrl(
  text: string,
  { type, filename, ...rules }: MediaRules & Named,
): Promise<ParsedMedia> {
  if (/^data:/i.test(text)) return parseInlineMedia(text, { type, filename, bytesMax: rules.bytesMax[type] })
  const url = text.length <= urlCharsMax && URL.canParse(text) ? new URL(text) : undefined
  if (!url) {
    const sentence = `must be an http, https or data URL of up to ${urlCharsMax} characters`
    const advice = isBase64(text) ? '. Put data:application/pdf;base64, or the like before base64' : ''
    throw invalid('invalid_parameter', `${sentence}${advice}`)
  }
  const refusal = refusalOf(url, rules)
  if (refusal) throw invalid('media_url_forbidden', refusal)
  return { url: url.href, file: null, filename: null }
}

/** Judged by its beginning, because it may be long. A host without a scheme has dots. */
const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]{24,}[A-Za-z0-9+/=_\s-]*$/.test(text.slice(0, 200))

const privateAddress =
  'must not point to a private address: send the file as a data: URL or with upload-media, or set ALLOW_PRIVATE_MEDIA_HOSTS=true for the API and its workers'

function refusalOf(url: URL, { allowsPrivateHosts }: MediaRules): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http, https or data URL'
  if (url.username || url.password) return 'must not contain a user name or password'
  if (!allowsPrivateHosts && isForbiddenHost(url.hostname)) return privateAddress
  return undefined
}

async function parseInlineMedia(
  text: string,
  { type, filename: given, bytesMax }: Named & { bytesMax: number },
): Promise<ParsedMedia> {
  const { mime: claimed, filename, bytes } = await parseDataUrl(text)
  if (bytes.length > bytesMax) throw tooLargeAs(type, bytesMax)
  const signs = readSigns(await fileTypeFromBuffer(bytes), bytes)
  const misfit = misfitOf(type, signs.mime)
  if (misfit) throw invalid('invalid_media', `contains a file that ${misfit}`)
  const weighed = weighType({ signs, names: [given, filename], claims: [claimed] })
  const mime = type === 'document' ? weighed.mime : (signs.mime ?? weighed.mime)
  return { url: `data:${mime}`, file: { mime, content: bytes }, filename: filename ?? null }
}

function invalid(code: RequestErrorCode, message: string): AppError {
  return new AppError(code, `url ${message}`, { details: [{ parameter: 'url', message }] })
}
