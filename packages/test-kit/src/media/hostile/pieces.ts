export const mebibyte = 2 ** 20

export const empty: Buffer = Buffer.alloc(0)

export function repeat(piece: Buffer, times: number): Buffer[] {
  return Array.from({ length: Math.ceil(times) }, () => piece)
}

export function fill(piece: Buffer, bytes: number): Buffer {
  return Buffer.concat(repeat(piece, bytes / piece.length))
}

/** https://id3.org/id3v2.3.0: a size of four times seven bits. */
