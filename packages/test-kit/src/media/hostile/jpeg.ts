import { repeat } from './pieces.ts'
export function progressiveJpeg(width: number, height: number, scanBytes = 0): Buffer {
  const segment = (marker: number, ...content: number[]) =>
    Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255, ...content])
  const size = [height >> 8, height & 255, width >> 8, width & 255]
  const scan = Buffer.concat([segment(0xda, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0), Buffer.alloc(200, 0)])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, 0, ...Array.from({ length: 64 }, () => 1)),
    segment(0xc2, 8, ...size, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0),
    segment(0xc4, 0, 1, ...Array.from({ length: 15 }, () => 0), 0),
    scan,
    ...repeat(scan, scanBytes / scan.length),
    Buffer.from([0xff, 0xd9]),
  ])
}

/** A comment with the signature of a WebP of one pixel where a careless parser finds it. */
export function disguise(jpeg: Buffer): Buffer {
  const comment = Buffer.alloc(44)
  comment.set([0xff, 0xfe, 0x00, 0x2a])
  comment.write('WEBPVP8 ', 6, 'latin1')
  comment.writeUInt16LE(1, 24)
  comment.writeUInt16LE(1, 26)
  return Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)])
}

/** TEM has no length: a parser that reads one lands in the comment, which contains a size of one pixel. */
export function falseLengths(jpeg: Buffer): Buffer {
  const tem = Buffer.from([0xff, 0x01])
  const comment = Buffer.from('fffe0012ffc0000b0800010001010111000000', 'hex')
  return Buffer.concat([jpeg.subarray(0, 2), tem, comment, jpeg.subarray(2)])
}

export function jpegComments(bytes: number): Buffer {
  const comment = Buffer.from([0xff, 0xfe, 0, 2])
  const jpeg = progressiveJpeg(64, 64)
  return Buffer.concat([jpeg.subarray(0, 2), ...repeat(comment, bytes / 4), jpeg.subarray(2)])
}
