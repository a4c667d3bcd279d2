import { createHash, randomBytes } from 'node:crypto'

const bytesMax = 512 * 1024 * 1024

type File = { body: Buffer; addedAtMs: number }

/** Uploaded, encrypted media by path. The oldest are evicted. */
export class MediaStore {
  readonly #files = new Map<string, File>()
  #bytes = 0

  /** Returns the path under which clients find it. */
  add(kind: string, body: Buffer): string {
    return this.#put(`/v/${kind}/${createHash('sha256').update(body).digest('base64url')}`, body)
  }

  /** Stores a file at a new path, which is returned. Undefined if it was evicted. */
  addAgain(path: string): string | undefined {
    const file = this.#files.get(path)
    return file && this.#put(`${path}-${randomBytes(6).toString('hex')}`, file.body)
  }

  /** `addedAtMs` is the time of the process. */
  get(path: string): File | undefined {
    return this.#files.get(path)
  }

  #put(path: string, body: Buffer): string {
    if (!this.#files.has(path)) this.#bytes += body.length
    this.#files.set(path, { body, addedAtMs: performance.now() })
    this.#makeRoom()
    return path
  }

  #makeRoom(): void {
    for (const [path, { body }] of this.#files) {
      if (this.#bytes <= bytesMax || this.#files.size === 1) return
      this.#files.delete(path)
      this.#bytes -= body.length
    }
  }
}
