import { join } from 'node:path'

/** Of a range that was given back in 2006: nobody has it, and the gateway takes it for public. */
export const publicAddress = '3ffe::1'

/** Memory of one worker for media. */
export const mediaMemoryMib = 64

/** For workers that can be asked for their memory, and to which the media host here is a public one. */
export function workerSettings(dataFolder: string, name: string): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import ${new URL('./in-worker.mjs', import.meta.url).href}`,
    PUBLIC_MEDIA_ADDRESS: publicAddress,
    MEMORY_FILE: memoryFileOf(dataFolder, name),
    MEDIA_MEMORY_BYTES: String(mediaMemoryMib * 2 ** 20),
    // The next trial must not wait for what one has restricted.
    RESTRICTION_PAUSE_MS: '30000',
  }
}

export function memoryFileOf(dataFolder: string, name: string): string {
  return join(dataFolder, `${name}.memory`)
}
