import { fill } from './pieces.ts'

function riff(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks])
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

function riffChunk(name: string, content: Buffer): Buffer {
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}

/** Without loss; all that follows the size is missing. */
function lossless(width: number, height: number): Buffer {
  const content = Buffer.alloc(64)
  content[0] = 0x2f
  content.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1)
  return riffChunk('VP8L', content)
}

export function webp(width: number, height: number): Buffer {
  return riff(lossless(width, height))
}

export function animatedWebp(bytes: number): Buffer {
  const canvas = Buffer.alloc(10)
  canvas[0] = 0x02
  canvas.writeUIntLE(16_382, 4, 3)
  canvas.writeUIntLE(16_382, 7, 3)
  const piece = riffChunk('ANMF', Buffer.concat([Buffer.alloc(16), lossless(1, 1)]))
  return riff(riffChunk('VP8X', canvas), riffChunk('ANIM', Buffer.alloc(6)), fill(piece, bytes))
}

export function gif(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(1000)
  bytes.write('GIF89a', 'latin1')
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return bytes
}
