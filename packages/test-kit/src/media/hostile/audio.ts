import { fill, repeat } from './pieces.ts'
export function id3Head(size: number): Buffer {
  return Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...[21, 14, 7, 0].map((shift) => (size >> shift) & 127)])
}

export function id3(body: Buffer): Buffer {
  return Buffer.concat([id3Head(body.length), body, mp3(40)])
}

export function frames(bytes: number, id: string, content: string): Buffer {
  const frame = Buffer.alloc(10 + content.length)
  frame.write(id, 'latin1')
  frame.writeUInt32BE(content.length, 4)
  frame.write(content, 10, 'latin1')
  return fill(frame, bytes)
}

/** Silent frames of MPEG-1 layer III, 128 kbit/s. */
export function mp3(count: number): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0x00])
  return Buffer.concat(repeat(frame, count))
}

/** MPEG-2 layer III of 8 and 16 kbit/s in turn: frames of 24 and 48 bytes, which only counting tells the length of. */
export function variableMp3(bytes: number): Buffer {
  const pair = Buffer.alloc(72)
  pair.set([0xff, 0xf3, 0x14, 0xc4])
  pair.set([0xff, 0xf3, 0x24, 0xc4], 24)
  return Buffer.concat(repeat(pair, bytes / 72))
}

/** https://datatracker.ietf.org/doc/html/rfc3533#section-6 */

export const aacFrame = Buffer.from([0xff, 0xf1, 0x50, 0x40, 0x01, 0x1f, 0xfc, 0])

export function apeTag(items: number): Buffer {
  const footer = Buffer.alloc(32)
  footer.write('APETAGEX', 'latin1')
  footer.writeUInt32LE(2000, 8)
  footer.writeUInt32LE(2 ** 31 - 1, 12)
  footer.writeUInt32LE(items, 16)
  return footer
}

/** A progressive JPEG of three colours without subsampling: libjpeg keeps six bytes for each pixel until its end. */
