import { type IFormat, parseFromTokenizer } from 'music-metadata'
import { fromFile, type ITokenizer } from 'strtok3'
import type { MediaFacts } from './media-facts.ts'

/** Inspection of a file with too many parts stops here, well before the limit of the process. */
const parseMsMax = 1000
const secondsMax = 1_000_000

/** The duration of audio or video. 0 when it cannot be determined: phones find out when they play the file. */
export async function inspectSound(file: string): Promise<MediaFacts> {
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
