import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

type Roots = { default?: unknown }

// Node 20 does not resolve links if the last file that the process examined is a pipe or a socket.
const baileysPath = realpathSync.native(fileURLToPath(import.meta.resolve('baileys')))

// The very instance that the simulator's Baileys loads. Another Baileys in this process may load it too.
const { roots } = createRequire(baileysPath)('protobufjs/minimal') as { roots: Roots }

const others = roots.default

/**
 * Every Baileys defines its messages in the same place, and the version that is loaded last would change those of the
 * other. `set` makes a place for the simulator's version, `restore` leaves it.
 */
export const protobufRoot = {
  set: () => {
    roots.default = {}
  },
  restore: () => {
    if (others) roots.default = others
    else delete roots.default
  },
}
