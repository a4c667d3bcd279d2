import { syncBuiltinESMExports } from 'node:module'
import zlib, { type Inflate, type ZlibOptions } from 'node:zlib'

/**
 * Baileys unpacks histories and stanzas without a limit, and a megabyte of deflated zeros becomes a gigabyte. This limits
 * everything that a worker unpacks.
 */
const bytesMax = 8 * 2 ** 20

const { inflate, createInflate } = zlib
type Callback = (error: Error | null, unpacked: Buffer<ArrayBuffer>) => void

function boundedInflate(packed: zlib.InputType, ...given: [Callback] | [ZlibOptions, Callback]): void {
  const [options, callback] = given.length === 2 ? given : [{}, given[0]]
  inflate(packed, { maxOutputLength: bytesMax, ...options }, callback)
}

/** `maxOutputLength` applies to the functions only, not to streams. */
function createBoundedInflate(options?: ZlibOptions): Inflate {
  const stream = createInflate(options)
  const push = stream.push.bind(stream)
  let size = 0
  stream.push = (chunk: Uint8Array | null, encoding) => {
    size += chunk?.length ?? 0
    if (size <= bytesMax) return push(chunk, encoding)
    stream.destroy(new Error('Unpacked data is larger than the limit'))
    return false
  }
  return stream
}

for (const [name, value] of [
  ['inflate', boundedInflate],
  ['createInflate', createBoundedInflate],
] as const) {
  Object.defineProperty(zlib, name, { value, configurable: true, enumerable: true, writable: true })
}
syncBuiltinESMExports()
