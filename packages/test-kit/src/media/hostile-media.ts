import { aacFrame, apeTag, frames, id3, id3Head, mp3, variableMp3 } from './hostile/audio.ts'
import { asfHead, entities, zipEntry } from './hostile/documents.ts'
import { disguise, falseLengths, jpegComments, progressiveJpeg } from './hostile/jpeg.ts'
import { box, metadataItems, mp4, nestedBoxes, sampleTable } from './hostile/mp4.ts'
import { endlessOgg, oggOf, opusComments } from './hostile/ogg.ts'
import { empty, fill, mebibyte, repeat } from './hostile/pieces.ts'
import { deflated, inflatingProfile, inflatingText, png, pngChunk } from './hostile/png.ts'
import { animatedWebp, gif, webp } from './hostile/webp-and-gif.ts'
export type HostileFile = {
  name: string
  type: 'image' | 'video' | 'audio' | 'document'
  bytes: Buffer
}

/**
 * Files that cost their reader much time or memory, of every accepted type. `scale` of 1 makes
 * them a few megabytes in all; larger ones cost more.
 */
export function makeHostileMedia(scale = 1): HostileFile[] {
  return listRecipes(scale).map(makeFile)
}

/** One of them: making all takes a minute of CPU time for a `scale` of 12. */
export function makeHostileFile(name: string, scale = 1): HostileFile {
  const recipe = listRecipes(scale).find((found) => found.name === name)
  if (!recipe) throw new Error(`There is no hostile file named ${name}`)
  return makeFile(recipe)
}

type Recipe = Omit<HostileFile, 'bytes'> & { makeBytes: () => Buffer }

function makeFile({ name, type, makeBytes }: Recipe): HostileFile {
  return { name, type, bytes: makeBytes() }
}

function listRecipes(scale: number): Recipe[] {
  const size = scale * mebibyte
  const image = (name: string, makeBytes: () => Buffer) => ({ name, type: 'image', makeBytes }) as const
  const video = (name: string, makeBytes: () => Buffer) => ({ name, type: 'video', makeBytes }) as const
  const audio = (name: string, makeBytes: () => Buffer) => ({ name, type: 'audio', makeBytes }) as const
  const document = (name: string, makeBytes: () => Buffer) => ({ name, type: 'document', makeBytes }) as const
  return [
    audio('ID3 tag full of tiny frames', () => id3(frames(size, 'TXXX', '\0a\0b'))),
    audio('ID3 tag full of empty frames', () => id3(frames(size, 'TIT2', '\0'))),
    audio('ID3 tag of comments', () => id3(frames(size, 'COMM', '\0engx\0y'))),
    audio('ID3 tag with pictures', () => id3(frames(size, 'APIC', `\0image/png\0\x03\0${'x'.repeat(50)}`))),
    audio('ID3 tag that announces 256 MB', () => Buffer.concat([id3Head(2 ** 28 - 1), mp3(40)])),
    audio('ID3 tags one after the other', () => Buffer.concat([...repeat(id3Head(0), size / 20), mp3(40)])),
    audio('MP3 of tiny frames of changing rate', () => variableMp3(size)),
    audio('MP3 with false synchronisation everywhere', () =>
      Buffer.concat([mp3(4), Buffer.alloc(size, 0xff)]),
    ),
    audio('Ogg without end', () => endlessOgg(size)),
    audio('Ogg of comments', () => oggOf(opusComments(size))),
    audio('M4A with boxes in boxes', () => mp4('M4A ', nestedBoxes('moov', 4000))),
    audio('M4A of metadata', () => mp4('M4A ', box('moov', box('udta', box('meta', metadataItems(size)))))),
    audio('AAC of the smallest frames', () => fill(aacFrame, size)),
    audio('AMR of nothing', () => Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(size, 0x7c)])),
    audio('APE tag with a false count', () => Buffer.concat([mp3(40), apeTag(size)])),
    video('MP4 with boxes in boxes', () => mp4('mp42', nestedBoxes('moov', 4000))),
    video('MP4 of empty boxes', () => mp4('mp42', Buffer.concat(repeat(box('free'), size / 8)))),
    video('MP4 of tracks', () => mp4('mp42', box('moov', fill(box('trak', box('mdia', box('minf'))), size)))),
    video('MP4 with a table of four billion samples', () => mp4('mp42', sampleTable(2 ** 32 - 1, size))),
    video('MP4 with a box of no length', () => mp4('mp42', Buffer.from('\0\0\0\0moov', 'latin1'))),
    video('MP4 with a box larger than everything', () =>
      mp4('mp42', Buffer.from('\x7f\xff\xff\xffmdat', 'latin1')),
    ),
    video('3GP cut in its header', () => Buffer.from('\0\0\0\x183gp', 'latin1')),
    image('JPEG, progressive, of 4 gigapixels', () => progressiveJpeg(65_500, 65_500)),
    image('JPEG, progressive, just not too large', () => progressiveJpeg(4000, 4000)),
    image('JPEG disguised as a tiny WebP', () => disguise(progressiveJpeg(16_000, 16_000))),
    image('JPEG with false lengths', () => falseLengths(progressiveJpeg(16_000, 16_000))),
    image('JPEG of scans', () => Buffer.concat([progressiveJpeg(2000, 2000, size)])),
    image('JPEG of comments', () => jpegComments(size)),
    image('PNG of 900 megapixels', () => png(30_000, 30_000)),
    image('PNG, interlaced, 16 bits, of 256 megapixels', () => png(16_000, 16_000, { isInterlaced: true })),
    image('PNG, interlaced, just not too large', () => png(5000, 5000, { isInterlaced: true, depth: 8 })),
    image('PNG with text that inflates', () => png(100, 100, { before: inflatingText(200 * size) })),
    image('PNG with a profile that inflates', () => png(100, 100, { before: inflatingProfile(200 * size) })),
    image('PNG of empty pieces', () =>
      png(100, 100, { before: Buffer.concat(repeat(pngChunk('teXt', empty), size / 12)) }),
    ),
    image('WebP of the largest size', () => webp(16_383, 16_383)),
    image('WebP with an animation of pieces', () => animatedWebp(size)),
    image('WebP cut in its header', () => Buffer.from('RIFF\xff\xff\xff\x7fWEBPVP8 ', 'latin1')),
    image('GIF', () => gif(65_535, 65_535)),
    image('TIFF', () =>
      Buffer.concat([Buffer.from('II*\0\x08\0\0\0\xff\xff', 'latin1'), Buffer.alloc(size, 1)]),
    ),
    image('SVG of entities', () =>
      Buffer.from(`<?xml version="1.0"?><!DOCTYPE svg [${entities()}]><svg>&z;</svg>`),
    ),
    document('ZIP of entries', () => Buffer.concat(repeat(zipEntry('a'), size / 31))),
    document('ZIP whose entry inflates', () =>
      zipEntry('[Content_Types].xml', deflated(200 * size), 200 * size),
    ),
    document('ZIP in an ID3 tag in an ID3 tag', () => Buffer.concat(repeat(id3Head(10), size / 10))),
    document('Matroska with elements in elements', () =>
      Buffer.concat(repeat(Buffer.from('1a45dfa3', 'hex'), size / 4)),
    ),
    document('ASF of objects', () => Buffer.concat([asfHead, Buffer.alloc(size)])),
    document('a single byte', () => Buffer.from([0])),
    document('PDF without end', () => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(size, '[')])),
  ]
}
