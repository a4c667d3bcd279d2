import { FilePathSource, Input, MP4, QTFF } from 'mediabunny'
import type { MediaFacts } from './media-facts.ts'

const containers = /^(video|audio)\/(mp4|3gpp|x-m4[av])$/

/** Types of one container, which is audio or video by its tracks. */
export const isTrackContainer = (mime: string | undefined) => mime !== undefined && containers.test(mime)

/**
 * What the tracks of an MP4, M4A or 3GP show. Programs give any of its brands to a recording without pictures, but the brands
 * of audio only to audio. Nothing for a file whose tracks cannot be read.
 */
export async function inspectTracks(file: string, { mime }: MediaFacts): Promise<MediaFacts> {
  const input = new Input({ source: new FilePathSource(file), formats: [MP4, QTFF] })
  try {
    const tracks = await input.getTracks()
    if (tracks.length === 0) return {}
    const duration = (await input.getDurationFromMetadata()) || (await input.computeDuration())
    const seconds = Number.isFinite(duration) ? Math.min(Math.max(Math.round(duration), 0), secondsMax) : 0
    const video = await input.getPrimaryVideoTrack()
    if (mime?.startsWith('audio/')) return { seconds }
    if (!video) return { mime: 'audio/mp4', extension: 'm4a', seconds }
    const size = { width: await video.getDisplayWidth(), height: await video.getDisplayHeight() }
    return {
      seconds,
      ...(isSize(size) && size),
      ...(mime === 'video/x-m4v' && { mime: 'video/mp4', extension: 'mp4' }),
    }
  } catch {
    return {}
  } finally {
    input.dispose()
  }
}

const secondsMax = 1_000_000
const pixelsMax = 100_000

function isSize({ width, height }: { width: number; height: number }): boolean {
  return [width, height].every((pixels) => Number.isInteger(pixels) && pixels > 0 && pixels <= pixelsMax)
}
