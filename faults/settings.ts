import { join } from 'node:path'

/** Of a range that was returned in 2006: it is not assigned, and the gateway treats it as public. */
export const publicAddress = '3ffe::1'

/** Memory of one worker for media. */
export const mediaMemoryMib = 64

/** For processes that can be asked for their memory, and to which the media host here is a public one. */
export function commonSettings(dataFolder: string, name: string): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import ${new URL('./in-process.mjs', import.meta.url).href}`,
    PUBLIC_MEDIA_ADDRESS: publicAddress,
    MEMORY_FILE: memoryFileOf(dataFolder, name),
  }
}

/** Counted in Redis, but never reached. */
export const apiSettings = { LIMIT_REQUESTS_PER_SECOND: '10000', LIMIT_REQUESTS_BURST: '10000' }

export const workerSettings = {
  MEDIA_MEMORY_BYTES: String(mediaMemoryMib * 2 ** 20),
  // All senders are of one account, which may have half of the room: a larger file would wait for all others.
  MEDIA_DOCUMENT_BYTES_MAX: String((mediaMemoryMib / 2 - 8) * 2 ** 20),
  // The next trial must not wait for what one has restricted.
  RESTRICTION_PAUSE_MS: '30000',
}

export function memoryFileOf(dataFolder: string, name: string): string {
  return join(dataFolder, `${name}.memory`)
}
