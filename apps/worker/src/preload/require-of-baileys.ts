import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Loads the copies that Baileys uses, which need not be the only ones installed. They are found from Baileys' real path.
 * `import.meta.resolve` of Node 20 returns another if the last file that the process examined is a pipe or a socket.
 */
export const requireOfBaileys = createRequire(
  realpathSync.native(fileURLToPath(import.meta.resolve('baileys'))),
)
