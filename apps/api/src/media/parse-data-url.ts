import { AppError } from '@wagate/shared/app-error'

const headerCharsMax = 256
// No nested repetition: the text may have millions of characters.
const strictBase64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * `data:<mime>;base64,<bytes>` and nothing else. Node's decoder takes garbage silently, so the alphabet is checked
 * here. `mime` is undefined when it is absent or no plain type.
 */
export function parseDataUrl(text: string): { mime: string | undefined; base64: string } {
  const comma = text.indexOf(',')
  if (comma === -1 || comma > headerCharsMax) throw invalid('has no data')
  const [claimed = '', ...attributes] = text.slice('data:'.length, comma).toLowerCase().split(';')
  if (attributes.length !== 1 || attributes[0] !== 'base64') {
    throw invalid('must begin with data:<type>;base64,')
  }
  const base64 = text.slice(comma + 1)
  if (base64 === '') throw invalid('has no data')
  if (base64.length % 4 !== 0 || !strictBase64.test(base64)) throw invalid('is not valid base64')
  return { mime: /^[a-z]+\/[a-z0-9.+-]+$/.test(claimed) ? claimed : undefined, base64 }
}

function invalid(message: string): AppError {
  return new AppError('invalid_media', `The data URL ${message}.`, {
    details: [{ parameter: 'url', message }],
  })
}
