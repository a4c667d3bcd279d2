export type ByteWriter = {
  /** From 0 to 255. */
  byte(value: number): void
  int32(value: number): void
  float64(value: number): void
  /** Bytes that are given as base64, 239 at most. A value of which the first sixteen have one becomes a reference to it. */
  base64(text: string): void
  /** What was written so far. Not a copy. */
  bytes(): Buffer
}

/** A length up to `lengthMax` is followed by the bytes. What is above refers to an earlier value. */
export const lengthMax = 239
const referencesMax = 255 - lengthMax

export function makeByteWriter(): ByteWriter {
  // Enough for a session with a few chains.
  let buffer = Buffer.allocUnsafe(512)
  let length = 0
  const references = new Map<string, number>()

  function reserve(size: number): void {
    if (length + size <= buffer.length) return
    const larger = Buffer.allocUnsafe(2 * (length + size))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }

  function byte(value: number): void {
    reserve(1)
    length = buffer.writeUInt8(value, length)
  }

  return {
    byte,
    int32(value) {
      reserve(4)
      length = buffer.writeInt32LE(value, length)
    },
    float64(value) {
      reserve(8)
      length = buffer.writeDoubleLE(value, length)
    },
    base64(text) {
      const reference = references.get(text)
      if (reference !== undefined) return byte(reference)
      if (references.size < referencesMax) references.set(text, lengthMax + 1 + references.size)
      const size = Buffer.byteLength(text, 'base64')
      if (size > lengthMax) throw new RangeError('A value is too long')
      byte(size)
      reserve(size)
      length += buffer.write(text, length, 'base64')
    },
    bytes: () => buffer.subarray(0, length),
  }
}
