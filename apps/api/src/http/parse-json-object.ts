import { AppError } from '../errors/app-error.ts'
import { decodeInSlices, decodeUtf8 } from './decode-utf8.ts'
import { isPlainText } from './is-plain-text.ts'
import { longBytesMin, refuseLargeOutline } from './outline.ts'

/**
 * The members of a JSON object. Throws `malformed_json`, `duplicate_parameter` when two members have the same name, and
 * `payload_too_large` when anything but a few long strings makes the body large: JSON.parse would block this process for
 * seconds on 24 MiB of brackets. Long strings are decoded in slices, which does not block it.
 */
export async function parseJsonObject(bytes: Buffer): Promise<[name: string, value: unknown][]> {
  const { outline, longStrings } = readOutline(bytes)
  const value = parse(decodeUtf8(outline))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('malformed_json', 'The body must be a JSON object.')
  }
  const members: [name: string, value: unknown][] = []
  for (const [name, given] of Object.entries(value)) {
    const literal = longStrings.get(name)
    members.push([name, literal === undefined ? given : await parseLongString(literal)])
  }
  return members
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(cause)
  }
}

/** `content` excludes the surrounding quotation marks. */
async function parseLongString(content: Buffer): Promise<string> {
  let text = ''
  for await (const slice of decodeInSlices(content, withoutHalfEscape))
    text += isPlainText(slice) ? slice : parse(`"${slice}"`)
  return text
}

/** Drops an incomplete escape sequence at the end of the slice. */
function withoutHalfEscape(slice: Buffer): Buffer {
  const last = slice.lastIndexOf(backslash)
  if (last < slice.length - escapeBytesMax) return slice
  let first = last
  while (slice[first - 1] === backslash) first -= 1
  // Backslashes escape each other in pairs; an unpaired one begins an escape sequence.
  return (last - first) % 2 === 0 ? slice.subarray(0, last) : slice
}

/** The body with each long string replaced by an empty one, and the contents of the long strings by member name. */
type Outline = { outline: Buffer; longStrings: Map<string, Buffer> }

/** Skips strings with native code, so the loop only visits the bytes between them. */
function readOutline(bytes: Buffer): Outline {
  const names = new Set<string>()
  const longStrings = new Map<string, Buffer>()
  const pieces: Buffer[] = []
  let pieceStart = 0
  let cutBytes = 0
  let depth = 0
  let isNameNext = false
  let name = ''
  for (let at = 0; at < bytes.length; at++) {
    refuseLargeOutline(at - cutBytes, longStrings.size)
    switch (bytes[at]) {
      case quote: {
        const end = endOfString(bytes, at)
        if (isNameNext) {
          name = readName(bytes.subarray(at, end + 1), names)
          isNameNext = false
        } else if (depth === 1 && end - at > longBytesMin) {
          longStrings.set(name, bytes.subarray(at + 1, end))
          pieces.push(bytes.subarray(pieceStart, at + 1))
          pieceStart = end
          cutBytes += end - at - 1
        }
        at = end
        break
      }
      case openBrace:
      case openBracket:
        depth += 1
        if (depth > depthMax)
          throw new AppError('malformed_json', `The body is nested more than ${depthMax} levels deep.`)
        isNameNext = depth === 1
        break
      case closeBrace:
      case closeBracket:
        depth -= 1
        break
      case comma:
        isNameNext = depth === 1
        break
    }
  }
  refuseLargeOutline(bytes.length - cutBytes, longStrings.size)
  return { outline: Buffer.concat([...pieces, bytes.subarray(pieceStart)]), longStrings }
}

const [quote, openBrace, closeBrace, openBracket, closeBracket, comma] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c]
const backslash = 0x5c
/** More than any parameter needs. What walks through a value by recursion must not run out of stack. */
const depthMax = 64
/** `\uXXXX`, the longest escape sequence. */
const escapeBytesMax = 6

/** JSON.parse keeps the last of two members with the same name, but the caller may have meant the first. */
function readName(literal: Buffer, names: Set<string>): string {
  refuseLargeOutline(literal.length)
  const name = String(parse(decodeUtf8(literal)))
  if (names.has(name)) {
    const message = 'The parameter appears twice in the body.'
    const details = [{ parameter: name.slice(0, 100), message }]
    throw new AppError('duplicate_parameter', message, { details })
  }
  names.add(name)
  return name
}

/** The index of the closing quotation mark of the string that begins at `start`. Base64 media contain no other ones. */
function endOfString(bytes: Buffer, start: number): number {
  let end = start
  for (let steps = 0; ; steps++) {
    refuseLargeOutline(steps)
    end = bytes.indexOf(quote, end + 1)
    if (end === -1) throw malformed()
    let escapes = end
    while (bytes[escapes - 1] === backslash && end - escapes < longBytesMin) escapes -= 1
    if ((end - escapes) % 2 === 0) return end
  }
}

function malformed(cause?: unknown): AppError {
  return new AppError('malformed_json', 'The body is not valid JSON.', { cause })
}
