import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

type MediaSample = { type: 'image' | 'video' | 'audio' | 'document'; mime: string; bytes: Buffer }

/** The smallest valid files of each type, generated here. */
export const mediaSamples: MediaSample[] = [
  { type: 'image', mime: 'image/png', bytes: makePng() },
  { type: 'video', mime: 'video/mp4', bytes: makeMp4() },
  { type: 'audio', mime: 'audio/mpeg', bytes: makeMp3() },
  { type: 'document', mime: 'application/pdf', bytes: makePdf() },
]

/** 16 × 16 grey pixels. */
function makePng(): Buffer {
  const size = 16
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header[8] = 8
  const rows = Buffer.alloc(size * (size + 1), 0x80)
  for (let row = 0; row < size; row++) rows[row * (size + 1)] = 0
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A picture of random pixels that has 3 bytes for each of `side` × `side`. */
export function makeNoisePng(side: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  // 8 bits for each colour.
  header.set([8, 2], 8)
  const rows = randomBytes(side * (3 * side + 1))
  for (let row = 0; row < side; row++) rows[row * (3 * side + 1)] = 0
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows, { level: 0 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(8 + body.length)
  chunk.writeUInt32BE(data.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), 4 + body.length)
  return chunk
}

function makeMp4(): Buffer {
  const brand = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1')
  const media = Buffer.alloc(5000, 7)
  media.writeUInt32BE(media.length, 0)
  media.write('mdat', 4, 'latin1')
  return Buffer.concat([brand, media])
}

/** Ten silent MPEG-1 layer III frames of 128 kbit/s at 44.1 kHz. */
function makeMp3(): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0x00])
  return Buffer.concat(Array.from({ length: 10 }, () => frame))
}

function makePdf(): Buffer {
  return Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n')
}
