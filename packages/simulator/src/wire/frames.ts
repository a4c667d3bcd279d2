import { NOISE_WA_HEADER } from 'baileys'

const frameHeaderBytes = 3
const introBytes = NOISE_WA_HEADER.length
const routingHeaderBytes = 7
const empty = Buffer.alloc(0)

/** Splits the byte stream of one client into frames. The stream begins with an intro, optionally with routing. */
export class FrameReader {
  #bytes: Buffer = empty
  #introRead = false

  push(chunk: Buffer): Buffer[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    if (!this.#introRead && !this.#readIntro()) return []
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
    if (!this.#bytes.subarray(start, start + introBytes).equals(NOISE_WA_HEADER)) {
      throw new Error('the stream does not open with the WhatsApp header')
    }
    this.#bytes = this.#bytes.subarray(start + introBytes)
    this.#introRead = true
    return true
  }
}

export function frame(body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + body.length)
  bytes.writeUIntBE(body.length, 0, frameHeaderBytes)
  bytes.set(body, frameHeaderBytes)
  return bytes
}
