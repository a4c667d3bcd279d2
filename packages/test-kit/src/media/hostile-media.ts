import { crc32, deflateSync } from 'node:zlib'

export type HostileFile = {
  name: string
  type: 'image' | 'video' | 'audio' | 'document'
  bytes: Buffer
}

const mebibyte = 2 ** 20

/**
 * Files that are made to cost whoever opens them time or memory, of every type that is accepted. `scale` of 1 makes
 * them a few megabytes in all; larger ones cost more.
 */
export function makeHostileMedia(scale = 1): HostileFile[] {
  const size = scale * mebibyte
  const image = (name: string, bytes: Buffer) => ({ name, type: 'image', bytes }) as const
  const video = (name: string, bytes: Buffer) => ({ name, type: 'video', bytes }) as const
  const audio = (name: string, bytes: Buffer) => ({ name, type: 'audio', bytes }) as const
  const document = (name: string, bytes: Buffer) => ({ name, type: 'document', bytes }) as const
  return [
    audio('ID3 tag full of tiny frames', id3(frames(size, 'TXXX', '\0a\0b'))),
    audio('ID3 tag full of empty frames', id3(frames(size, 'TIT2', '\0'))),
    audio('ID3 tag of comments', id3(frames(size, 'COMM', '\0engx\0y'))),
    audio('ID3 tag with pictures', id3(frames(size, 'APIC', `\0image/png\0\x03\0${'x'.repeat(50)}`))),
    audio('ID3 tag that announces 256 MB', Buffer.concat([id3Head(2 ** 28 - 1), mp3(40)])),
    audio('ID3 tags one after the other', Buffer.concat([...repeat(id3Head(0), size / 20), mp3(40)])),
    audio('MP3 of tiny frames of changing rate', variableMp3(size)),
    audio('MP3 with false synchronisation everywhere', Buffer.concat([mp3(4), Buffer.alloc(size, 0xff)])),
    audio('Ogg without end', endlessOgg(size)),
    audio('Ogg of comments', oggOf(opusComments(size))),
    audio('M4A with boxes in boxes', mp4('M4A ', nestedBoxes('moov', 4000))),
    audio('M4A of metadata', mp4('M4A ', box('moov', box('udta', box('meta', metadataItems(size)))))),
    audio('AAC of the smallest frames', fill(aacFrame, size)),
    audio('AMR of nothing', Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(size, 0x7c)])),
    audio('APE tag with a false count', Buffer.concat([mp3(40), apeTag(size)])),
    video('MP4 with boxes in boxes', mp4('mp42', nestedBoxes('moov', 4000))),
    video('MP4 of empty boxes', mp4('mp42', Buffer.concat(repeat(box('free'), size / 8)))),
    video('MP4 of tracks', mp4('mp42', box('moov', fill(box('trak', box('mdia', box('minf'))), size)))),
    video('MP4 with a table of four billion samples', mp4('mp42', sampleTable(2 ** 32 - 1, size))),
    video('MP4 with a box of no length', mp4('mp42', Buffer.from('\0\0\0\0moov', 'latin1'))),
    video(
      'MP4 with a box larger than everything',
      mp4('mp42', Buffer.from('\x7f\xff\xff\xffmdat', 'latin1')),
    ),
    video('3GP cut in its header', Buffer.from('\0\0\0\x183gp', 'latin1')),
    image('JPEG, progressive, of 4 gigapixels', progressiveJpeg(65_500, 65_500)),
    image('JPEG, progressive, just not too large', progressiveJpeg(4000, 4000)),
    image('JPEG disguised as a tiny WebP', disguise(progressiveJpeg(16_000, 16_000))),
    image('JPEG with false lengths', falseLengths(progressiveJpeg(16_000, 16_000))),
    image('JPEG of scans', Buffer.concat([progressiveJpeg(2000, 2000, size)])),
    image('JPEG of comments', jpegComments(size)),
    image('PNG of 900 megapixels', png(30_000, 30_000)),
    image('PNG, interlaced, 16 bits, of 256 megapixels', png(16_000, 16_000, { isInterlaced: true })),
    image('PNG, interlaced, just not too large', png(5000, 5000, { isInterlaced: true, depth: 8 })),
    image('PNG with text that inflates', png(100, 100, { before: inflatingText(200 * size) })),
    image('PNG with a profile that inflates', png(100, 100, { before: inflatingProfile(200 * size) })),
    image(
      'PNG of empty pieces',
      png(100, 100, { before: Buffer.concat(repeat(pngChunk('teXt', empty), size / 12)) }),
    ),
    image('WebP of the largest size', webp(16_383, 16_383)),
    image('WebP with an animation of pieces', animatedWebp(size)),
    image('WebP cut in its header', Buffer.from('RIFF\xff\xff\xff\x7fWEBPVP8 ', 'latin1')),
    image('GIF', gif(65_535, 65_535)),
    image('TIFF', Buffer.concat([Buffer.from('II*\0\x08\0\0\0\xff\xff', 'latin1'), Buffer.alloc(size, 1)])),
    image(
      'SVG of entities',
      Buffer.from(`<?xml version="1.0"?><!DOCTYPE svg [${entities()}]><svg>&z;</svg>`),
    ),
    document('ZIP of entries', Buffer.concat(repeat(zipEntry('a'), size / 31))),
    document('ZIP whose entry inflates', zipEntry('[Content_Types].xml', deflated(200 * size), 200 * size)),
    document('ZIP in an ID3 tag in an ID3 tag', Buffer.concat(repeat(id3Head(10), size / 10))),
    document(
      'Matroska with elements in elements',
      Buffer.concat(repeat(Buffer.from('1a45dfa3', 'hex'), size / 4)),
    ),
    document('ASF of objects', Buffer.concat([asfHead, Buffer.alloc(size)])),
    document('a single byte', Buffer.from([0])),
    document('PDF without end', Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(size, '[')])),
  ]
}

const empty: Buffer = Buffer.alloc(0)

function repeat(piece: Buffer, times: number): Buffer[] {
  return Array.from({ length: Math.ceil(times) }, () => piece)
}

function fill(piece: Buffer, bytes: number): Buffer {
  return Buffer.concat(repeat(piece, bytes / piece.length))
}

/** https://id3.org/id3v2.3.0: a size of four times seven bits. */
function id3Head(size: number): Buffer {
  return Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...[21, 14, 7, 0].map((shift) => (size >> shift) & 127)])
}

function id3(body: Buffer): Buffer {
  return Buffer.concat([id3Head(body.length), body, mp3(40)])
}

function frames(bytes: number, id: string, content: string): Buffer {
  const frame = Buffer.alloc(10 + content.length)
  frame.write(id, 'latin1')
  frame.writeUInt32BE(content.length, 4)
  frame.write(content, 10, 'latin1')
  return fill(frame, bytes)
}

/** Silent frames of MPEG-1 layer III, 128 kbit/s. */
function mp3(count: number): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0x00])
  return Buffer.concat(repeat(frame, count))
}

/** MPEG-2 layer III of 8 and 16 kbit/s in turn: frames of 24 and 48 bytes, which only counting tells the length of. */
function variableMp3(bytes: number): Buffer {
  const pair = Buffer.alloc(72)
  pair.set([0xff, 0xf3, 0x14, 0xc4])
  pair.set([0xff, 0xf3, 0x24, 0xc4], 24)
  return Buffer.concat(repeat(pair, bytes / 72))
}

/** https://datatracker.ietf.org/doc/html/rfc3533#section-6 */
function oggPage(kind: number, content: Buffer): Buffer {
  const segments = Math.min(255, Math.floor(content.length / 255) + 1)
  const head = Buffer.alloc(27 + segments, 255)
  head.write('OggS\0', 'latin1')
  head[5] = kind
  head.fill(0, 6, 26)
  head[26] = segments
  if (segments < 255) head[26 + segments] = content.length % 255
  return Buffer.concat([head, content])
}

const opusHead = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')

function endlessOgg(bytes: number): Buffer {
  const page = oggPage(0, empty)
  return Buffer.concat([oggPage(2, opusHead), ...repeat(page, bytes / page.length)])
}

function oggOf(packet: Buffer): Buffer {
  const pages = [oggPage(2, opusHead)]
  for (let start = 0; start < packet.length; start += 255 * 255) {
    pages.push(oggPage(start === 0 ? 0 : 1, packet.subarray(start, start + 255 * 255)))
  }
  return Buffer.concat(pages)
}

function opusComments(bytes: number): Buffer {
  const comment = Buffer.from('\x03\0\0\0a=b', 'latin1')
  const count = Buffer.alloc(4)
  count.writeUInt32LE(Math.ceil(bytes / comment.length))
  return Buffer.concat([
    Buffer.from('OpusTags\0\0\0\0', 'latin1'),
    count,
    ...repeat(comment, bytes / comment.length),
  ])
}

function box(name: string, ...content: Buffer[]): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0))
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, ...content])
}

function mp4(brand: string, content: Buffer): Buffer {
  return Buffer.concat([box('ftyp', Buffer.from(`${brand}\0\0\0\0${brand}isom`, 'latin1')), content])
}

function nestedBoxes(name: string, depth: number): Buffer {
  const heads = Buffer.alloc(8 * depth)
  for (let level = 0; level < depth; level++) {
    heads.writeUInt32BE(8 * (depth - level), 8 * level)
    heads.write(name, 8 * level + 4, 'latin1')
  }
  return heads
}

function metadataItems(bytes: number): Buffer {
  const item = box('\xa9nam', box('data', Buffer.from('\0\0\0\x01\0\0\0\0a', 'latin1')))
  return Buffer.concat([Buffer.alloc(4), box('ilst', fill(item, bytes))])
}

function sampleTable(count: number, bytes: number): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32BE(count, 8)
  const table = box('stsz', head, Buffer.alloc(bytes))
  return box('moov', box('trak', box('mdia', box('minf', box('stbl', table)))))
}

const aacFrame = Buffer.from([0xff, 0xf1, 0x50, 0x40, 0x01, 0x1f, 0xfc, 0])

function apeTag(items: number): Buffer {
  const footer = Buffer.alloc(32)
  footer.write('APETAGEX', 'latin1')
  footer.writeUInt32LE(2000, 8)
  footer.writeUInt32LE(2 ** 31 - 1, 12)
  footer.writeUInt32LE(items, 16)
  return footer
}

/** A progressive JPEG of three colours without subsampling: libjpeg keeps six bytes for each pixel until its end. */
function progressiveJpeg(width: number, height: number, scanBytes = 0): Buffer {
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

/** A comment that puts the signs of a WebP of one pixel where a careless look finds them. */
function disguise(jpeg: Buffer): Buffer {
  const comment = Buffer.alloc(44)
  comment.set([0xff, 0xfe, 0x00, 0x2a])
  comment.write('WEBPVP8 ', 6, 'latin1')
  comment.writeUInt16LE(1, 24)
  comment.writeUInt16LE(1, 26)
  return Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)])
}

/** TEM has no length: what takes the next bytes for one walks into the comment, where a size of one pixel is. */
function falseLengths(jpeg: Buffer): Buffer {
  const tem = Buffer.from([0xff, 0x01])
  const comment = Buffer.from('fffe0012ffc0000b0800010001010111000000', 'hex')
  return Buffer.concat([jpeg.subarray(0, 2), tem, comment, jpeg.subarray(2)])
}

function jpegComments(bytes: number): Buffer {
  const comment = Buffer.from([0xff, 0xfe, 0, 2])
  const jpeg = progressiveJpeg(64, 64)
  return Buffer.concat([jpeg.subarray(0, 2), ...repeat(comment, bytes / 4), jpeg.subarray(2)])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(8 + body.length)
  chunk.writeUInt32BE(data.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), 4 + body.length)
  return chunk
}

/** With fewer rows than it announces. */
function png(
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

function deflated(bytes: number): Buffer {
  return deflateSync(Buffer.alloc(bytes))
}

function inflatingText(bytes: number): Buffer {
  return pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), deflated(bytes)]))
}

function inflatingProfile(bytes: number): Buffer {
  return pngChunk('iCCP', Buffer.concat([Buffer.from('profile\0\0', 'latin1'), deflated(bytes)]))
}

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

function webp(width: number, height: number): Buffer {
  return riff(lossless(width, height))
}

function animatedWebp(bytes: number): Buffer {
  const canvas = Buffer.alloc(10)
  canvas[0] = 0x02
  canvas.writeUIntLE(16_382, 4, 3)
  canvas.writeUIntLE(16_382, 7, 3)
  const piece = riffChunk('ANMF', Buffer.concat([Buffer.alloc(16), lossless(1, 1)]))
  return riff(riffChunk('VP8X', canvas), riffChunk('ANIM', Buffer.alloc(6)), fill(piece, bytes))
}

function gif(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(1000)
  bytes.write('GIF89a', 'latin1')
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return bytes
}

function entities(): string {
  const names = [...'abcdefghijklmnopqrstuvwxyz']
  const of = (name: string, n: number) => `<!ENTITY ${name} "${`&${names[n - 1] ?? 'lt'};`.repeat(10)}">`
  return names.map(of).join('')
}

function zipEntry(name: string, content = empty, size = 0): Buffer {
  const head = Buffer.alloc(30)
  head.write('PK\x03\x04\x14\0', 'latin1')
  head.writeUInt16LE(content.length > 0 ? 8 : 0, 8)
  head.writeUInt32LE(content.length, 18)
  head.writeUInt32LE(size, 22)
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, Buffer.from(name, 'latin1'), content])
}

const asfHead = Buffer.from('3026b2758e66cf11a6d900aa0062ce6cffffffffffff0000ffffffff0102', 'hex')
