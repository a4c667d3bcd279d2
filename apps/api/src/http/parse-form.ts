import { AppError } from '../errors/app-error.ts'
import { decodeInSlices } from './decode-utf8.ts'
import { inSlices, isLarge } from './in-slices.ts'
import { longBytesMin, refuseLargeOutline } from './outline.ts'

/** A form of 24 MiB could contain millions of parameters, which would take seconds to parse. */
const parametersMax = 10_000

/** The names and values of a form. Throws `malformed_json` and `payload_too_large`. */
export async function parseForm(bytes: Buffer): Promise<[name: string, value: string][]> {
  let text = ''
  for await (const slice of decodeInSlices(bytes)) text += slice
  refuseManyParameters(text)
  if (!isLarge(text.length)) return [...new URLSearchParams(text)]
  const parameters: [string, string][] = []
  let outlineBytes = 0
  let longStrings = 0
  for (const parameter of text.split('&')) {
    if (parameter === '') continue
    if (parameter.length > longBytesMin) longStrings += 1
    else outlineBytes += parameter.length
    refuseLargeOutline(outlineBytes, longStrings)
    const end = parameter.includes('=') ? parameter.indexOf('=') : parameter.length
    parameters.push([decode(parameter.slice(0, end)), await decodeFormValue(parameter.slice(end + 1))])
  }
  return parameters
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
