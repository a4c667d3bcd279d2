/** Loaded with --import before anything else of the worker: all must stand before Baileys is evaluated. */
import './preload/async-context.ts'
import './preload/bounded-inflate.ts'
import './preload/console-filter.ts'
import './preload/intact-sessions.ts'
import './preload/verified-signatures.ts'
