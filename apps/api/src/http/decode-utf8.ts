import { AppError } from '../errors/app-error.ts'
import { slicesInTurn } from './in-slices.ts'

/** Throws `malformed_json` for what is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array, decoder = makeDecoder(), isLast = true): string {
  try {
    return decoder.decode(bytes, { stream: !isLast })
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not valid UTF-8.', { cause })
  }
}

/** The text in slices, with turns of others between them. A character that is cut in two is in the second. */
export async function* decodeInTurn(
  bytes: Buffer,
  shorten?: (slice: Buffer) => Buffer,
): AsyncGenerator<string> {
  const decoder = makeDecoder()
  for await (const slice of slicesInTurn(bytes, shorten)) yield decodeUtf8(slice, decoder, false)
  yield decodeUtf8(new Uint8Array(), decoder)
}

const makeDecoder = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
