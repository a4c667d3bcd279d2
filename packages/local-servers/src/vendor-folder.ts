import { fileURLToPath } from 'node:url'

/** Servers that were downloaded once, for all runs of this repository. */
export const vendorFolder = fileURLToPath(new URL('../../../.data/vendor', import.meta.url))
