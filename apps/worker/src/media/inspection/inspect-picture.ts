import sharp, { type Metadata } from 'sharp'
import type { MediaFacts } from './media-facts.ts'

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

/** The checked size is the size with which the picture is decoded. `null` when it cannot be opened. */
export async function inspectPicture(file: string): Promise<MediaFacts | null> {
  const header = await readHeader(file)
  if (!header) return null
  const { width, height, format } = header
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
      .resize(thumbnailPixels)
      .jpeg({ quality: thumbnailQuality })
      .toBuffer()
    return { thumbnail: jpeg.toString('base64') }
  } catch {
    return {}
  }
}
