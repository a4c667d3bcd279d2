import { AppError } from '@wagate/shared/app-error'
import { slicesInTurn } from './pause-for-others.ts'

/** Of a body without its long strings. */
const outlineCharsMax = 64 * 1024
/** A string from this length on is read apart from the rest. */
const longCharsMin = 32 * 1024

/**
 * The members of a JSON object. Throws `malformed_json`, `duplicate_parameter` when two have one name, and
 * `payload_too_large` when more than a few long strings makes the body large: 24 MiB of brackets would take
 * JSON.parse seconds, in which nothing else is answered. While it reads a long string others have their turn.
 */
export async function parseJsonObject(text: string): Promise<[name: string, value: unknown][]> {
  const { outline, longStrings } = readOutline(text)
  const value = parse(outline)
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

async function parseLongString(literal: string): Promise<string> {
  const pieces: unknown[] = []
  for await (const slice of slicesInTurn(literal.slice(1, -1), withoutHalfEscape)) {
    pieces.push(parse(`"${slice}"`))
  }
  return pieces.join('')
}

/** The slice without the escape sequence that its end may have cut in two. */
function withoutHalfEscape(slice: string): string {
  const last = slice.lastIndexOf('\\')
  if (last < slice.length - escapeCharsMax) return slice
  let first = last
  while (slice.charCodeAt(first - 1) === backslash) first -= 1
  // Backslashes escape each other in pairs; one that is left begins a sequence.
  return (last - first) % 2 === 0 ? slice.slice(0, last) : slice
}

/** The text with an empty string in place of each long member, and the literals of those by name. */
type Outline = { outline: string; longStrings: Map<string, string> }

/** Steps over strings natively, and takes one step for each character between them. */
function readOutline(text: string): Outline {
  const names = new Set<string>()
  const longStrings = new Map<string, string>()
  const pieces: string[] = []
  let pieceStart = 0
  let cutChars = 0
  let depth = 0
  let isNameNext = false
  let name = ''
  for (let at = 0; at < text.length; at++) {
    if (at - cutChars > outlineCharsMax) throw tooLarge()
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at)
        if (isNameNext) {
          name = readName(text.slice(at, end + 1), names)
          isNameNext = false
        } else if (depth === 1 && end - at > longCharsMin) {
          longStrings.set(name, text.slice(at, end + 1))
          pieces.push(text.slice(pieceStart, at), '""')
          pieceStart = end + 1
          cutChars += end + 1 - at
        }
        at = end
        break
      }
      case openBrace:
      case openBracket:
        depth += 1
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
  if (text.length - cutChars > outlineCharsMax) throw tooLarge()
  return { outline: pieces.join('') + text.slice(pieceStart), longStrings }
}

const [quote, openBrace, closeBrace, openBracket, closeBracket, comma] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c]
const backslash = 0x5c
/** A backslash, u and four digits. */
const escapeCharsMax = 6

/** JSON.parse keeps the last of two members with one name: the caller may have meant the first. */
function readName(literal: string, names: Set<string>): string {
  if (literal.length > outlineCharsMax) throw tooLarge()
  const name = String(parse(literal))
  if (names.has(name)) {
    const message = 'The parameter is given twice in the body.'
    const details = [{ parameter: name.slice(0, 100), message }]
    throw new AppError('duplicate_parameter', message, { details })
  }
  names.add(name)
  return name
}

/** Where the quotation mark is that ends the string which begins at `start`. Media have no quotation marks inside. */
function endOfString(text: string, start: number): number {
  let end = start
  for (let steps = 0; steps < outlineCharsMax; steps++) {
    end = text.indexOf('"', end + 1)
    if (end === -1) throw malformed()
    let escapes = end
    while (text.charCodeAt(escapes - 1) === backslash && end - escapes < outlineCharsMax) escapes -= 1
    if ((end - escapes) % 2 === 0) return end
  }
  throw tooLarge()
}

function malformed(cause?: unknown): AppError {
  return new AppError('malformed_json', 'The body is not valid JSON.', { cause })
}

function tooLarge(): AppError {
  const sentence = `Beside the value of url, the body is larger than ${outlineCharsMax / 1024} KiB.`
  return new AppError('payload_too_large', sentence)
}
