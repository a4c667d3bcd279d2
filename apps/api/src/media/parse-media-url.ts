import { isAcceptedMedia } from '@wagate/shared/media-rules'
import { isForbiddenHost } from '@wagate/shared/public-hosts'
import type { MediaType } from '@wagate/shared/statuses'
import { fileTypeFromBuffer } from 'file-type'
import { AppError } from '../errors/app-error.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import { parseDataUrl } from './parse-data-url.ts'

/** A file that came with the request. */
export type InlineFile = { mime: string; bytes: number; base64: string }

/** What the history shows as `url`, and the file if it came with the request. */
export type Media = { url: string; file: InlineFile | null }

const urlCharsMax = 8192

type MediaRules = { bytesMaxOf: Record<MediaType, number>; allowPrivateHosts: boolean }

/**
 * Of an http(s) URL only what can be seen of it is judged here: what its name resolves to is looked at where it
 * is fetched. Throws `invalid_parameter`, `media_url_forbidden`, `invalid_media` or `payload_too_large`.
 */
export async function parseMediaUrl(text: string, type: MediaType, rules: MediaRules): Promise<Media> {
  if (/^data:/i.test(text)) return parseInlineMedia(text, type, rules.bytesMaxOf[type])
  const url = text.length <= urlCharsMax && URL.canParse(text) ? new URL(text) : undefined
  if (!url) {
    throw invalid(
      'invalid_parameter',
      `must be an http, https or data URL of up to ${urlCharsMax} characters`,
    )
  }
  const refusal = refusalOf(url, rules)
  if (refusal) throw invalid('media_url_forbidden', refusal)
  return { url: url.href, file: null }
}

function refusalOf(url: URL, { allowPrivateHosts }: MediaRules): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http, https or data URL'
  if (url.username || url.password) return 'must not carry a user name or password'
  if (!allowPrivateHosts && isForbiddenHost(url.hostname)) return 'must not point to a private address'
  return undefined
}

async function parseInlineMedia(text: string, type: MediaType, bytesMax: number): Promise<Media> {
  const { mime: claimed, base64, bytes } = await parseDataUrl(text)
  if (bytes.length > bytesMax) {
    throw new AppError('payload_too_large', `The ${type} is larger than ${bytesMax} bytes.`)
  }
  const recognised = (await fileTypeFromBuffer(bytes))?.mime
  if (!isAcceptedMedia(type, recognised)) {
    throw invalid('invalid_media', `holds no ${type}: its bytes are ${recognised ?? 'of an unknown type'}`)
  }
  const mime = recognised ?? claimed ?? 'application/octet-stream'
  return { url: `data:${mime}`, file: { mime, bytes: bytes.length, base64 } }
}

function invalid(code: RequestErrorCode, message: string): AppError {
  return new AppError(code, `url ${message}`, { details: [{ parameter: 'url', message }] })
}
