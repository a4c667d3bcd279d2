import { createRequire } from 'node:module'

type Roots = { default?: unknown }

// The very instance that the simulator's Baileys loads. Another Baileys in this process may load it too.
const { roots } = createRequire(import.meta.resolve('baileys'))('protobufjs/minimal') as { roots: Roots }

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
