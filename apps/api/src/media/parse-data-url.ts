import { AppError } from '../errors/app-error.ts'
import { decodeBase64, decodePercent } from './data-url-encodings.ts'

export type DataUrl = { mime: string | undefined; filename: string | undefined; bytes: Buffer }

const headerCharsMax = 2048

/**
 * RFC 2397, with the parameters that programs add: `data:application/pdf;filename=invoice.pdf;base64,…`. `mime` is undefined
 * when it is missing or not a plain type.
 */
export async function parseDataUrl(text: string): Promise<DataUrl> {
  const header = headerOf(text)
  if (header === undefined)
    throw invalid(`has no comma before its data in the first ${headerCharsMax} characters`)
  const [claimed = '', ...parameters] = splitHeader(header)
  const isBase64 = [claimed, ...parameters].some((parameter) => /^\s*base64\s*$/i.test(parameter))
  const data = text.slice('data:'.length + header.length + 1)
  const bytes = isBase64 ? await decodeBase64(data) : await decodePercent(data)
  if (!bytes) throw invalid('is not valid base64')
  if (bytes.length === 0) throw invalid('has no data')
  const mime = claimed.trim().toLowerCase()
  return {
    mime: /^[a-z]+\/[a-z0-9.+_-]+$/.test(mime) ? mime : undefined,
    filename: filenameIn(parameters),
    bytes,
  }
}

/** What is between `data:` and the first comma that is not quoted. */
function headerOf(text: string): string | undefined {
  const start = text.slice('data:'.length, 'data:'.length + headerCharsMax)
  const [header] = /^(?:"[^"]*"|[^",])*(?=,)/.exec(start) ?? []
  return header ?? (start.includes(',') ? start.slice(0, start.indexOf(',')) : undefined)
}

const splitHeader = (header: string): string[] => header.match(/(?:"[^"]*"|[^";]|")+|(?<=;|^)(?=;|$)/g) ?? []

function filenameIn(parameters: string[]): string | undefined {
  for (const parameter of parameters) {
    const [, quoted, plain] = /^\s*(?:file)?name\*?=(?:"([^"]*)"|(.*))$/is.exec(parameter) ?? []
    const name = (quoted ?? plain)?.replace(/^utf-8'[^']*'/i, '').trim()
    if (name) return decodeName(name)
  }
  return undefined
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function invalid(message: string): AppError {
  return new AppError('invalid_media', `The data URL ${message}.`, {
    details: [{ parameter: 'url', message }],
  })
}
