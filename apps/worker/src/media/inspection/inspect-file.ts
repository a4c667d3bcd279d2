import { open } from 'node:fs/promises'
import { readSigns, signBytesMax } from '@wagate/shared/file-signs'
import { isAcceptedMedia } from '@wagate/shared/media-rules'
import { fileTypeFromFile } from 'file-type'
import { type IFormat, parseFromTokenizer } from 'music-metadata'
import sharp, { type Metadata } from 'sharp'
import { fromFile, type ITokenizer } from 'strtok3'
import { amrSeconds } from './amr-seconds.ts'
import { inspectTracks, isTrackContainer } from './inspect-tracks.ts'
import type { InspectionRequest, MediaFacts } from './media-facts.ts'

/** Opens a file that may be malicious, so call it only in the process that has limits. `null` when it is damaged. */
export async function inspectFile({ file, type }: InspectionRequest): Promise<MediaFacts | null> {
  const signs = readSigns(await fileTypeFromFile(file), await readHead(file))
  if (type === 'document') return signs
  const mayBeVideo = type !== 'image' && isTrackContainer(signs.mime)
  const facts: MediaFacts = mayBeVideo ? { ...signs, ...(await inspectTracks(file, signs)) } : signs
  if (!isAcceptedMedia(type, facts.mime) || facts.seconds !== undefined) return facts
  const more = await (type === 'image' ? inspectPicture(file) : inspectSound(file, facts.mime))
  return more && { ...facts, ...more }
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(signBytesMax), 0, signBytesMax, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The pixels of a good camera's picture. */
const pixelsMax = 25_000_000
/** Progressive JPEG, interlaced PNG and WebP are kept in memory as a whole while they are decoded. */
const decodedBytesMax = 100_000_000
const thumbnailPixels = 32
const thumbnailQuality = 50
const thumbnailSecondsMax = 1

// Only formats that WhatsApp shows as images are opened. The bytes may be of any other.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['VipsForeignLoadJpegFile', 'VipsForeignLoadPngFile', 'VipsForeignLoadWebpFile'],
})
sharp.cache(false)
sharp.concurrency(1)

/**
 * Turned as its EXIF data say, which is how phones show it. The checked size is the size with which the picture is decoded.
 * `null` when it cannot be opened.
 */
async function inspectPicture(file: string): Promise<MediaFacts | null> {
  const header = await readHeader(file)
  if (!header) return null
  const { width, height } = header.autoOrient
  const { format } = header
  const size = { mime: `image/${format}`, extension: format === 'jpeg' ? 'jpg' : format, width, height }
  const isOpened = width * height <= pixelsMax && decodedBytes(header) <= decodedBytesMax
  return isOpened ? { ...size, ...(await makeThumbnail(file)) } : size
}

async function readHeader(file: string): Promise<Metadata | undefined> {
  try {
    return await sharp(file, { limitInputPixels: false, failOn: 'none' }).metadata()
  } catch {
    return undefined
  }
}

function decodedBytes({ width, height, channels, depth, format, isProgressive }: Metadata): number {
  if (!isProgressive && format !== 'webp') return 0
  // libjpeg keeps two bytes for each coefficient.
  const bytesPerSample = format === 'jpeg' || depth === 'ushort' ? 2 : 1
  return width * height * channels * bytesPerSample
}

/** Undefined when the rest of the picture is damaged or takes too long: phones show the part that is intact. */
async function makeThumbnail(file: string): Promise<{ thumbnail?: string }> {
  try {
    const jpeg = await sharp(file, { limitInputPixels: pixelsMax, failOn: 'error' })
      .timeout({ seconds: thumbnailSecondsMax })
      .autoOrient()
      .resize(thumbnailPixels)
      .jpeg({ quality: thumbnailQuality })
      .toBuffer()
    return { thumbnail: jpeg.toString('base64') }
  } catch {
    return {}
  }
}

/** Inspection of a file with too many parts stops here, well before the limit of the process. */
const parseMsMax = 1000
const secondsMax = 1_000_000

/** The duration of audio or video. 0 when it cannot be determined: phones find out when they play the file. */
async function inspectSound(file: string, mime: string | undefined): Promise<MediaFacts> {
  if (mime === 'audio/amr') return { seconds: await amrSeconds(file) }
  const tokenizer = await fromFile(file)
  let format: IFormat | undefined
  try {
    giveUpAfter(tokenizer, parseMsMax)
    await parseFromTokenizer(tokenizer, {
      // Do not read a whole file just to count its frames.
      duration: false,
      skipCovers: true,
      skipPostHeaders: true,
      observer: ({ metadata }) => {
        format = metadata.format
      },
    })
  } catch {
    // The metadata that was found before the error counts.
  } finally {
    await tokenizer.close()
  }
  return { seconds: secondsOf(format, tokenizer.fileInfo.size ?? 0) }
}

/** Ends the parser at its next read. */
function giveUpAfter(tokenizer: ITokenizer, ms: number): void {
  const endsAtMs = performance.now() + ms
  for (const name of ['readBuffer', 'peekBuffer'] as const) {
    const read = tokenizer[name].bind(tokenizer)
    tokenizer[name] = (bytes, options) => {
      if (performance.now() > endsAtMs) throw new Error('The file takes too long')
      return read(bytes, options)
    }
  }
}

/** An MP3 of variable bit rate without a header: estimated by the rate of its first frame. */
function secondsOf({ duration, bitrate }: Partial<IFormat> = {}, bytes: number): number {
  const seconds = duration ?? (bitrate ? (bytes * 8) / bitrate : 0)
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.round(seconds), 0), secondsMax) : 0
}
