import { AppError } from '@wagate/shared/app-error'
import { isAcceptedMedia } from '@wagate/shared/media-rules'
import type { MediaType } from '@wagate/shared/statuses'
import { fileTypeFromBuffer } from 'file-type'
import { parseDataUrl } from './parse-data-url.ts'

/** What the history shows as `url`, and the bytes if they came with the request. */
export type Media = { url: string; media: { mime: string; base64: string } | null }

const urlCharsMax = 8192

/**
 * An http(s) URL is only checked in form: whether it may be fetched is decided where it is fetched, after its
 * name is resolved. Throws `invalid_parameter`, `invalid_media` or `payload_too_large`.
 */
export async function parseMediaUrl(
  text: string,
  type: MediaType,
  bytesMaxOf: Record<MediaType, number>,
): Promise<Media> {
  if (/^data:/i.test(text)) return parseInlineMedia(text, type, bytesMaxOf[type])
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isFetchable = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isFetchable || text.length > urlCharsMax) {
    throw invalid(
      'invalid_parameter',
      `must be an http, https or data URL of up to ${urlCharsMax} characters`,
    )
  }
  if (url.username || url.password)
    throw invalid('invalid_parameter', 'must not carry a user name or password')
  return { url: url.href, media: null }
}

async function parseInlineMedia(text: string, type: MediaType, bytesMax: number): Promise<Media> {
  const { mime: claimed, base64 } = parseDataUrl(text)
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > bytesMax) {
    throw new AppError('payload_too_large', `The ${type} is larger than ${bytesMax} bytes.`)
  }
  const recognised = (await fileTypeFromBuffer(bytes))?.mime
  if (!isAcceptedMedia(type, recognised)) {
    throw invalid('invalid_media', `holds no ${type}: its bytes are ${recognised ?? 'of an unknown type'}`)
  }
  const mime = recognised ?? claimed ?? 'application/octet-stream'
  return { url: `data:${mime}`, media: { mime, base64 } }
}

function invalid(code: 'invalid_parameter' | 'invalid_media', message: string): AppError {
  return new AppError(code, `url ${message}`, { details: [{ parameter: 'url', message }] })
}
