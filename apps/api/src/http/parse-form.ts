import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { decodeInSlices } from './decode-utf8.ts'
import { inSlices, isLarge } from './in-slices.ts'
import { longBytesMin, refuseLargeOutline } from './outline.ts'

/** A form of 24 MiB could contain millions of parameters, which would take seconds to parse. */
const parametersMax = 10_000

/** The names and values of a form. Throws `malformed_json`, `invalid_parameter` and `payload_too_large`. */
export async function parseForm(bytes: Buffer): Promise<[name: string, value: string][]> {
  let text = ''
  for await (const slice of decodeInSlices(bytes)) text += slice
  refuseManyParameters(text)
  if (!isLarge(text.length)) {
    refuseOtherEncodings(text)
    return [...new URLSearchParams(text)]
  }
  const parameters: [string, string][] = []
  let outlineBytes = 0
  let longStrings = 0
  for (const parameter of text.split('&')) {
    if (parameter === '') continue
    if (parameter.length > longBytesMin) longStrings += 1
    else outlineBytes += parameter.length
    refuseLargeOutline(outlineBytes, longStrings)
    const end = parameter.includes('=') ? parameter.indexOf('=') : parameter.length
    const name = decode(parameter.slice(0, end))
    const value = await decodeFormValue(parameter.slice(end + 1))
    if (isChanged(parameter, name + value)) throw notUtf8(name)
    parameters.push([name, value])
  }
  return parameters
}

/**
 * URLSearchParams replaces what is not UTF-8, such as `caf%E9` of Latin-1, by U+FFFD. A recipient would read that. `encoded` is a
 * form or a query. Throws `invalid_parameter`.
 */
export function refuseOtherEncodings(encoded: string): void {
  if (!/%[89a-f][0-9a-f]/i.test(encoded)) return
  for (const parameter of encoded.split('&')) {
    const [[name, value] = ['', '']] = new URLSearchParams(parameter)
    if (isChanged(parameter, name + value)) throw notUtf8(name)
  }
}

const replacement = '\ufffd'

function isChanged(encoded: string, decoded: string): boolean {
  if (!decoded.includes(replacement)) return false
  const written = count(encoded, replacement) + count(encoded.toUpperCase(), '%EF%BF%BD')
  return count(decoded, replacement) > written
}

function count(text: string, part: string): number {
  let found = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found += 1
  return found
}

export function notUtf8(name: string): AppError {
  const message = 'is not in UTF-8: encode é as %C3%A9 in a form or a URL, and as the bytes C3 A9 elsewhere'
  return invalidParameter(name.slice(0, 100), message)
}

function refuseManyParameters(text: string): void {
  let parameters = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    parameters += 1
    if (parameters > parametersMax) {
      throw new AppError('payload_too_large', `The form has more than ${parametersMax} parameters.`)
    }
  }
}

/** As URLSearchParams decodes it, slice by slice. */
export async function decodeFormValue(value: string, sliceCharsMax?: number): Promise<string> {
  let text = ''
  for await (const slice of inSlices(value, withoutHalfCharacter, sliceCharsMax)) text += decode(slice)
  return text
}

const decode = (text: string) => new URLSearchParams(`x=${text}`).get('x') ?? ''

/** Four percent-encoded bytes and the beginning of a fifth. */
const characterCharsMax = 14

/** Drops an incomplete character at the end of the slice, whether percent-encoded or literal. */
function withoutHalfCharacter(slice: string): string {
  const tail = slice.slice(-characterCharsMax)
  const first = tail.search(/(?:%(?![89ab])[^%]{0,2}(?:%[89ab][0-9a-f]){0,3}%?[89ab]?|[\ud800-\udbff])$/i)
  return first === -1 ? slice : slice.slice(0, slice.length - tail.length + first)
}
