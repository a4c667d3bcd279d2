import { createHash } from 'node:crypto'

const bytesMax = 512 * 1024 * 1024

/** Uploaded, encrypted media by path. The oldest are evicted. */
export class MediaStore {
  readonly #files = new Map<string, Buffer>()
  #bytes = 0

  /** Returns the path under which clients find it. */
  add(kind: string, body: Buffer): string {
    const path = `/v/${kind}/${createHash('sha256').update(body).digest('base64url')}`
    if (!this.#files.has(path)) {
      this.#files.set(path, body)
      this.#bytes += body.length
      this.#makeRoom()
    }
    return path
  }

  get(path: string): Buffer | undefined {
    return this.#files.get(path)
  }

  #makeRoom(): void {
    for (const [path, body] of this.#files) {
      if (this.#bytes <= bytesMax || this.#files.size === 1) return
      this.#files.delete(path)
      this.#bytes -= body.length
    }
  }
}
