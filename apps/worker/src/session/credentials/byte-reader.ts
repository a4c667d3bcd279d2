import { lengthMax } from './byte-writer.ts'

/** Reads what `makeByteWriter` wrote, in the same order. */
export type ByteReader = { byte(): number; int32(): number; float64(): number; base64(): string }

export function makeByteReader(buffer: Buffer): ByteReader {
  let position = 0
  const values: string[] = []

  function skip(size: number): number {
    const at = position
    position += size
    return at
  }

  return {
    byte: () => buffer.readUInt8(skip(1)),
    int32: () => buffer.readInt32LE(skip(4)),
    float64: () => buffer.readDoubleLE(skip(8)),
    base64() {
      const size = buffer.readUInt8(skip(1))
      if (size > lengthMax) return values[size - lengthMax - 1] ?? ''
      const text = buffer.toString('base64', skip(size), position)
      values.push(text)
      return text
    },
  }
}
