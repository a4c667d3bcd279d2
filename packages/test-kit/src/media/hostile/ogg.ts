import { empty, repeat } from './pieces.ts'

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

export function endlessOgg(bytes: number): Buffer {
  const page = oggPage(0, empty)
  return Buffer.concat([oggPage(2, opusHead), ...repeat(page, bytes / page.length)])
}

export function oggOf(packet: Buffer): Buffer {
  const pages = [oggPage(2, opusHead)]
  for (let start = 0; start < packet.length; start += 255 * 255) {
    pages.push(oggPage(start === 0 ? 0 : 1, packet.subarray(start, start + 255 * 255)))
  }
  return Buffer.concat(pages)
}

export function opusComments(bytes: number): Buffer {
  const comment = Buffer.from('\x03\0\0\0a=b', 'latin1')
  const count = Buffer.alloc(4)
  count.writeUInt32LE(Math.ceil(bytes / comment.length))
  return Buffer.concat([
    Buffer.from('OpusTags\0\0\0\0', 'latin1'),
    count,
    ...repeat(comment, bytes / comment.length),
  ])
}
