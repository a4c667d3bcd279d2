import { crc32, deflateSync } from 'node:zlib'
import { empty, mebibyte } from './pieces.ts'

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(8 + body.length)
  chunk.writeUInt32BE(data.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), 4 + body.length)
  return chunk
}

/** With fewer rows than it announces. */
export function png(
  width: number,
  height: number,
  {
    isInterlaced = false,
    depth = 16,
    before = empty,
  }: { isInterlaced?: boolean; depth?: 8 | 16; before?: Buffer } = {},
): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([depth, 6, 0, 0, isInterlaced ? 1 : 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    before,
    pngChunk('IDAT', deflateSync(Buffer.alloc(2 * mebibyte))),
    pngChunk('IEND', empty),
  ])
}

export function deflated(bytes: number): Buffer {
  return deflateSync(Buffer.alloc(bytes))
}

export function inflatingText(bytes: number): Buffer {
  return pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), deflated(bytes)]))
}

export function inflatingProfile(bytes: number): Buffer {
  return pngChunk('iCCP', Buffer.concat([Buffer.from('profile\0\0', 'latin1'), deflated(bytes)]))
}
