import { box, mp4 } from './hostile/mp4.ts'

/** A red JPEG of 64 × 32 that is shown upright: its EXIF data say orientation 6. Made by sharp. */
export const turnedJpeg = Buffer.from(
  [
    '/9j/4QC8RXhpZgAASUkqAAgAAAAGABIBAwABAAAABgAAABoBBQABAAAAVgAAABsBBQABAAAAXgAAACgBAwABAAAAAgAAABMCAwAB',
    'AAAAAQAAAGmHBAABAAAAZgAAAAAAAAA4YwAA6AMAADhjAADoAwAABgAAkAcABAAAADAyMTABkQcABAAAAAECAwAAoAcABAAAADAx',
    'MDABoAMAAQAAAP//AAACoAQAAQAAAEAAAAADoAQAAQAAACAAAAAAAAAA/+IB8ElDQ19QUk9GSUxFAAEBAAAB4GxjbXMEIAAAbW50',
    'clJHQiBYWVogB+IAAwAUAAkADgAdYWNzcE1TRlQAAAAAc2F3c2N0cmwAAAAAAAAAAAAAAAAAAPbWAAEAAAAA0y1oYW5keem/Vlo+',
    'AbaDI4VVRvdPqgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAKZGVzYwAAAPwAAAAkY3BydAAAASAAAAAid3RwdAAAAUQA',
    'AAAUY2hhZAAAAVgAAAAsclhZWgAAAYQAAAAUZ1hZWgAAAZgAAAAUYlhZWgAAAawAAAAUclRSQwAAAcAAAAAgZ1RSQwAAAcAAAAAg',
    'YlRSQwAAAcAAAAAgbWx1YwAAAAAAAAABAAAADGVuVVMAAAAIAAAAHABzAFIARwBCbWx1YwAAAAAAAAABAAAADGVuVVMAAAAGAAAA',
    'HABDAEMAMAAAWFlaIAAAAAAAAPbWAAEAAAAA0y1zZjMyAAAAAAABDD8AAAXd///zJgAAB5AAAP2S///7of///aIAAAPcAADAcVhZ',
    'WiAAAAAAAABvoAAAOPIAAAOPWFlaIAAAAAAAAGKWAAC3iQAAGNpYWVogAAAAAAAAJKAAAA+FAAC2xHBhcmEAAAAAAAMAAAACZmkA',
    'APKnAAANWQAAE9AAAApb/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+',
    'WmFaUGBKUVJP/9sAQwEODg4TERMmFRUmTzUtNU9PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P',
    'T09P/8AAEQgAIABAAwEiAAIRAQMRAf/EABUAAQEAAAAAAAAAAAAAAAAAAAAG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABYBAQEB',
    'AAAAAAAAAAAAAAAAAAAFB//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AJ8BGaSAAAAAAAAAAAAAA//Z',
  ].join(''),
  'base64',
)

const bytesOf = (text: string) => Buffer.from(text, 'latin1')

function numbers(...values: [value: number, bytes: 1 | 2 | 4][]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const piece = Buffer.alloc(bytes)
      piece.writeUIntBE(value >>> 0, 0, bytes)
      return piece
    }),
  )
}

const zeros = (bytes: number) => Buffer.alloc(bytes)
const timescale = 1000

/** The nine values of a matrix that turns clockwise, in fixed point. */
const matrices: Record<number, number[]> = {
  0: [1, 0, 0, 0, 1, 0],
  90: [0, 1, 0, -1, 0, 0],
  180: [-1, 0, 0, 0, -1, 0],
  270: [0, -1, 0, 1, 0, 0],
}

function matrixOf(rotation: number): Buffer {
  const matrix = Buffer.alloc(36)
  for (const [at, value] of (matrices[rotation] ?? []).entries()) matrix.writeInt32BE(value * 0x10000, 4 * at)
  matrix.writeInt32BE(0x40000000, 32)
  return matrix
}

export type Track = { kind: 'video' | 'audio'; width?: number; height?: number; rotation?: number }

/** An MP4 with one sample a second in each track. */
export function makeMp4(brand: string, seconds: number, tracks: Track[]): Buffer {
  const duration = seconds * timescale
  const movieHead = box(
    'mvhd',
    zeros(12),
    numbers([timescale, 4], [duration, 4], [0x10000, 4], [0x100, 2]),
    zeros(10),
    matrixOf(0),
    zeros(24),
    numbers([tracks.length + 1, 4]),
  )
  const boxes = tracks.map((track, at) => trackBox(track, at + 1, seconds))
  return mp4(brand, Buffer.concat([box('moov', movieHead, ...boxes), box('mdat', zeros(1000))]))
}

function trackBox({ kind, width = 0, height = 0, rotation = 0 }: Track, id: number, seconds: number): Buffer {
  const duration = seconds * timescale
  const head = box(
    'tkhd',
    numbers([7, 4]),
    zeros(8),
    numbers([id, 4], [0, 4], [duration, 4]),
    zeros(8),
    numbers([0, 4], [kind === 'audio' ? 0x100 : 0, 2], [0, 2]),
    matrixOf(rotation),
    numbers([width * 0x10000, 4], [height * 0x10000, 4]),
  )
  const mediaHead = box('mdhd', zeros(12), numbers([timescale, 4], [duration, 4], [0x55c4, 2], [0, 2]))
  const handler = box(
    'hdlr',
    zeros(8),
    bytesOf(kind === 'video' ? 'vide' : 'soun'),
    zeros(12),
    bytesOf('x\0'),
  )
  const entry = kind === 'video' ? videoEntry(width, height) : audioEntry()
  const table = box(
    'stbl',
    box('stsd', numbers([0, 4], [1, 4]), entry),
    box('stts', numbers([0, 4], [1, 4], [seconds, 4], [timescale, 4])),
    box('stsc', numbers([0, 4], [1, 4], [1, 4], [seconds, 4], [1, 4])),
    box('stsz', numbers([0, 4], [10, 4], [seconds, 4])),
    box('stco', numbers([0, 4], [1, 4], [100, 4])),
  )
  const kindHead = kind === 'video' ? box('vmhd', numbers([1, 4]), zeros(8)) : box('smhd', zeros(8))
  const place = box('dinf', box('dref', numbers([0, 4], [1, 4]), box('url ', numbers([1, 4]))))
  return box('trak', head, box('mdia', mediaHead, handler, box('minf', kindHead, place, table)))
}

function videoEntry(width: number, height: number): Buffer {
  const configuration = box(
    'avcC',
    Buffer.from('0142c01effe1000467 42c01e01000468ce3c80'.replaceAll(' ', ''), 'hex'),
  )
  const head = [
    zeros(6),
    numbers([1, 2]),
    zeros(16),
    numbers([width, 2], [height, 2], [0x480000, 4], [0x480000, 4], [0, 4], [1, 2]),
  ]
  return box('avc1', ...head, zeros(32), numbers([24, 2], [0xffff, 2]), configuration)
}

function audioEntry(): Buffer {
  const configuration = Buffer.from(
    '03190000000411401500000000000000000000000502121006010 2'.replaceAll(' ', ''),
    'hex',
  )
  const head = [zeros(6), numbers([1, 2]), zeros(8), numbers([2, 2], [16, 2], [0, 4], [44_100 * 0x10000, 4])]
  return box('mp4a', ...head, box('esds', zeros(4), configuration))
}

const repeated = (piece: Buffer, times: number) => Buffer.concat(Array.from({ length: times }, () => piece))

/** 38.28 frames a second, of 128 kbit/s. */
const mp3Frame = Buffer.concat([Buffer.from('fffb9000', 'hex'), zeros(413)])

export function makeMp3(frames: number): Buffer {
  return repeated(mp3Frame, frames)
}

/** With a tag in front, as most songs have. */
export const withId3 = (mp3: Buffer) =>
  Buffer.concat([bytesOf('ID3\x03\0\0\0\0\0\x0f'), bytesOf('TIT2\0\0\0\x05\0\0\0Song'), mp3])

/** A header counts the frames, which are smaller than its own. */
export function makeVariableMp3(frames: number): Buffer {
  const head = Buffer.from(mp3Frame)
  head.write('Xing', 36, 'latin1')
  head.writeUInt32BE(1, 40)
  head.writeUInt32BE(frames, 44)
  const small = Buffer.concat([Buffer.from('fffb1000', 'hex'), zeros(100)])
  return Buffer.concat([head, repeated(small, frames)])
}

/** ADTS, 1024 samples of 44.1 kHz in a frame of 100 bytes. */
export function makeAac(frames: number): Buffer {
  const frame = zeros(100)
  frame.set([0xff, 0xf1, 0x50, 0x80, 100 >> 3, ((100 & 7) << 5) | 0x1f, 0xfc])
  return repeated(frame, frames)
}

/** 50 frames a second, of 12.2 kbit/s. */
export function makeAmr(frames: number): Buffer {
  return Buffer.concat([
    bytesOf('#!AMR\n'),
    repeated(Buffer.concat([Buffer.from([0x3c]), zeros(31)]), frames),
  ])
}

/** 50 frames a second, of 23.85 kbit/s. */
export function makeWideAmr(frames: number): Buffer {
  return Buffer.concat([
    bytesOf('#!AMR-WB\n'),
    repeated(Buffer.concat([Buffer.from([0x44]), zeros(60)]), frames),
  ])
}

/** Opus in Ogg, as voice notes are: a page a second. */
export function makeVoiceNote(seconds: number): Buffer {
  const head = bytesOf('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0')
  const tags = bytesOf('OpusTags\x01\0\0\0x\0\0\0\0')
  const pages = [oggPage(2, 0, 0, head), oggPage(0, 1, 0, tags)]
  for (let second = 1; second <= seconds; second++)
    pages.push(oggPage(second === seconds ? 4 : 0, second + 1, second * 48_000, zeros(200)))
  return Buffer.concat(pages)
}

function oggPage(flags: number, sequence: number, position: number, packet: Buffer): Buffer {
  const head = zeros(28)
  head.write('OggS', 'latin1')
  head[5] = flags
  head.writeBigUInt64LE(BigInt(position), 6)
  head.writeUInt32LE(1, 14)
  head.writeUInt32LE(sequence, 18)
  head[26] = 1
  head[27] = packet.length
  const page = Buffer.concat([head, packet])
  page.writeUInt32LE(oggChecksum(page), 22)
  return page
}

/** RFC 3533, 6: a CRC with the polynomial 0x04c11db7, not reflected. */
function oggChecksum(page: Buffer): number {
  let sum = 0
  for (const byte of page) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  }
  return sum >>> 0
}
