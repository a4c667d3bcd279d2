/** Loaded with --import before the rest of the worker: all of this must be in place before Baileys is evaluated. */
import './preload/bounded-inflate.ts'
import './preload/console-filter.ts'
import './preload/intact-sessions.ts'
import './preload/curve-keys.ts'
import './preload/curve-signatures.ts'
