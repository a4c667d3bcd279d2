/** Loaded with --import before anything else of the worker: both must stand before Baileys is evaluated. */
import './preload/async-context.ts'
import './preload/console-filter.ts'
