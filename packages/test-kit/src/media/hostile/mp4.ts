import { fill } from './pieces.ts'
export function box(name: string, ...content: Buffer[]): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0))
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, ...content])
}

export function mp4(brand: string, content: Buffer): Buffer {
  return Buffer.concat([box('ftyp', Buffer.from(`${brand}\0\0\0\0${brand}isom`, 'latin1')), content])
}

export function nestedBoxes(name: string, depth: number): Buffer {
  const heads = Buffer.alloc(8 * depth)
  for (let level = 0; level < depth; level++) {
    heads.writeUInt32BE(8 * (depth - level), 8 * level)
    heads.write(name, 8 * level + 4, 'latin1')
  }
  return heads
}

export function metadataItems(bytes: number): Buffer {
  const item = box('\xa9nam', box('data', Buffer.from('\0\0\0\x01\0\0\0\0a', 'latin1')))
  return Buffer.concat([Buffer.alloc(4), box('ilst', fill(item, bytes))])
}

export function sampleTable(count: number, bytes: number): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32BE(count, 8)
  const table = box('stsz', head, Buffer.alloc(bytes))
  return box('moov', box('trak', box('mdia', box('minf', box('stbl', table)))))
}
