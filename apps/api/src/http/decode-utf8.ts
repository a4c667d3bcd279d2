import { isAscii } from 'node:buffer'
import { AppError } from '../errors/app-error.ts'
import { inSlices } from './in-slices.ts'

/** Throws `malformed_json` for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array, decoder = makeDecoder(), isLast = true): string {
  try {
    return decoder.decode(bytes, { stream: !isLast })
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not valid UTF-8.', { cause })
  }
}

/** Decodes slice by slice, as `inSlices` does. A character split between two slices is part of the second. */
export async function* decodeInSlices(
  bytes: Buffer,
  shorten?: (slice: Buffer) => Buffer,
): AsyncGenerator<string> {
  // One byte for each character, in memory as well, and decoded many times as fast.
  if (isAscii(bytes)) {
    for await (const slice of inSlices(bytes, shorten)) yield slice.toString('latin1')
    return
  }
  const decoder = makeDecoder()
  for await (const slice of inSlices(bytes, shorten)) yield decodeUtf8(slice, decoder, false)
  yield decodeUtf8(new Uint8Array(), decoder)
}

const makeDecoder = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
