import sharp, { type Metadata } from 'sharp'
import type { MediaFacts } from './media-facts.ts'

/** Those of a good camera. */
const pixelsMax = 25_000_000
/** A progressive JPEG, an interlaced PNG and a WebP are in memory as a whole while they are opened. */
const decodedBytesMax = 100_000_000
const thumbnailPixels = 32
const thumbnailQuality = 50
const thumbnailSecondsMax = 1

// Nothing but what WhatsApp shows as an image is opened, whatever the bytes look like.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['VipsForeignLoadJpegFile', 'VipsForeignLoadPngFile', 'VipsForeignLoadWebpFile'],
})
sharp.cache(false)
sharp.concurrency(1)

/** The size that the picture is opened with is the size that is judged. `null` when it cannot be opened. */
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

/** Without one when the picture is damaged further on, or takes too long: phones show as much as there is. */
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
