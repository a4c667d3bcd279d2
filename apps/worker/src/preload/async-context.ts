import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

type Frame = { owner: object; value: unknown; isOver: boolean; outer: Frame | undefined }

const Native = AsyncLocalStorage
const frames = new Native<Frame | undefined>()

/**
 * Baileys makes an AsyncLocalStorage per socket and never disables it. On Node < 24 every await of the
 * process then pays for each of them, including those of sockets that closed long ago. This replaces the class by one whose
 * instances share a single real instance.
 *
 * A context also ends when the promise of `run()` has settled: work that Baileys leaves behind in a finished transaction
 * would otherwise write into its dead buffer, and a privacy token would be lost with every message.
 */
class SharedAsyncLocalStorage<Value> {
  static bind = Native.bind
  static snapshot = Native.snapshot

  getStore(): Value | undefined {
    let frame = frames.getStore()
    while (frame && (frame.owner !== this || frame.isOver)) frame = frame.outer
    return frame?.value as Value | undefined
  }

  run<Result, Args extends unknown[]>(value: Value, work: (...args: Args) => Result, ...args: Args): Result {
    const frame: Frame = { owner: this, value, isOver: false, outer: living(frames.getStore()) }
    const result = frames.run(frame, work, ...args)
    if (result instanceof Promise) {
      const end = () => {
        frame.isOver = true
      }
      result.then(end, end)
    }
    return result
  }

  exit<Result, Args extends unknown[]>(work: (...args: Args) => Result, ...args: Args): Result {
    return this.run(undefined as Value, work, ...args)
  }

  enterWith(value: Value): void {
    frames.enterWith({ owner: this, value, isOver: false, outer: living(frames.getStore()) })
  }

  disable(): void {
    // The real instance is shared, so it stays enabled.
  }
}

/** Finished frames are left out, so that a chain of detached work does not keep them all alive. */
function living(frame: Frame | undefined): Frame | undefined {
  let nearest = frame
  while (nearest?.isOver) nearest = nearest.outer
  return nearest
}

// On Node 20 an assignment would do; since Node 24 the property has only a getter.
Object.defineProperty(asyncHooks, 'AsyncLocalStorage', {
  value: SharedAsyncLocalStorage,
  configurable: true,
  enumerable: true,
  writable: true,
})
syncBuiltinESMExports()
