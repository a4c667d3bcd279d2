import { type Dictionary, dictionaryOf } from './dictionary.ts'

const frameHeaderBytes = 3
const introBytes = 4
const introBegin = Buffer.from('WA\x06', 'latin1')
const routingHeaderBytes = 7
const empty = Buffer.alloc(0)

/** What a client's stream begins with. The handshake confirms its bytes; its last byte is the dictionary's version. */
export type Intro = { bytes: Buffer; dictionary: Dictionary }

/** Splits the byte stream of one client into frames. The stream begins with an intro, optionally with routing. */
export class FrameReader {
  /** Known before the first frame. */
  intro: Intro | undefined
  #bytes: Buffer = empty

  push(chunk: Buffer): Buffer[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    if (!this.intro && !this.#readIntro()) return []
    const frames: Buffer[] = []
    while (this.#bytes.length >= frameHeaderBytes) {
      const end = frameHeaderBytes + this.#bytes.readUIntBE(0, frameHeaderBytes)
      if (this.#bytes.length < end) break
      frames.push(this.#bytes.subarray(frameHeaderBytes, end))
      this.#bytes = this.#bytes.subarray(end)
    }
    return frames
  }

  #readIntro(): boolean {
    let start = 0
    if (this.#bytes.length < introBytes) return false
    if (this.#bytes.toString('latin1', 0, 2) === 'ED') {
      if (this.#bytes.length < routingHeaderBytes) return false
      start = routingHeaderBytes + this.#bytes.readUIntBE(4, 3)
      if (this.#bytes.length < start + introBytes) return false
    }
    const bytes = this.#bytes.subarray(start, start + introBytes)
    const dictionary = dictionaryOf(bytes[introBegin.length])
    if (!bytes.subarray(0, introBegin.length).equals(introBegin) || !dictionary) {
      throw new Error('the stream does not open with the WhatsApp header')
    }
    this.#bytes = this.#bytes.subarray(start + introBytes)
    this.intro = { bytes, dictionary }
    return true
  }
}

export function frame(body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + body.length)
  bytes.writeUIntBE(body.length, 0, frameHeaderBytes)
  bytes.set(body, frameHeaderBytes)
  return bytes
}
