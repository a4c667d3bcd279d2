import { isAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaType } from '@wagate/shared/message-kinds'
import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { fileTypeFromBuffer } from 'file-type'
import { AppError } from '../errors/app-error.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import { tooLargeAs } from './media-faults.ts'
import { parseDataUrl } from './parse-data-url.ts'

/** A file that came with the request. */
export type InlineFile = { mime: string; content: Buffer }

/** `url` is shown in the history; `file` is null for an http(s) URL. */
export type ParsedMedia = { url: string; file: InlineFile | null }

const urlCharsMax = 8192

type MediaRules = { bytesMax: Record<MediaType, number>; allowsPrivateHosts: boolean }

/**
 * Checks an http(s) URL without resolving its host: the worker checks the addresses when it fetches the file. Throws
 * `invalid_parameter`, `media_url_forbidden`, `invalid_media` or `payload_too_large`.
 */
export async function parseMediaUrl(text: string, type: MediaType, rules: MediaRules): Promise<ParsedMedia> {
  if (/^data:/i.test(text)) return parseInlineMedia(text, type, rules.bytesMax[type])
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

function refusalOf(url: URL, { allowsPrivateHosts }: MediaRules): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http, https or data URL'
  if (url.username || url.password) return 'must not contain a user name or password'
  if (!allowsPrivateHosts && isForbiddenHost(url.hostname)) return 'must not point to a private address'
  return undefined
}

async function parseInlineMedia(text: string, type: MediaType, bytesMax: number): Promise<ParsedMedia> {
  const { mime: claimed, bytes } = await parseDataUrl(text)
  if (bytes.length > bytesMax) throw tooLargeAs(type, bytesMax)
  const detected = (await fileTypeFromBuffer(bytes))?.mime
  if (!isAcceptedMedia(type, detected)) {
    throw invalid(
      'invalid_media',
      `does not contain a file of type ${type}: detected ${detected ?? 'no known type'}`,
    )
  }
  const mime = detected ?? claimed ?? 'application/octet-stream'
  return { url: `data:${mime}`, file: { mime, content: bytes } }
}

function invalid(code: RequestErrorCode, message: string): AppError {
  return new AppError(code, `url ${message}`, { details: [{ parameter: 'url', message }] })
}
