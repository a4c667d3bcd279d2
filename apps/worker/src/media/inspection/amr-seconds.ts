import { createReadStream } from 'node:fs'

/** Bytes of a frame of 20 ms, by its mode. RFC 4867, 5.3: silence and empty frames are the last ones. */
const narrow = [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1]
const wide = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]
const heads = [
  { head: '#!AMR-WB\n', frames: wide },
  { head: '#!AMR\n', frames: narrow },
]

/** The format has no length. `music-metadata` and `mediabunny` do not read it. */
export async function amrSeconds(file: string): Promise<number> {
  let frames = narrow
  let count = 0
  /** Bytes before the next frame. */
  let skip: number | undefined
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    if (skip === undefined) {
      const found = heads.find(({ head }) => piece.toString('latin1', 0, head.length) === head)
      skip = found?.head.length ?? 0
      frames = found?.frames ?? narrow
    }
    while (skip < piece.length) {
      skip += frames[((piece[skip] ?? 0) >> 3) & 15] ?? 1
      count += 1
    }
    skip -= piece.length
  }
  return Math.round(count / 50)
}
