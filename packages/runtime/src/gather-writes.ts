import type { Writable } from 'node:stream'

/**
 * From now on, what is written to the stream in one turn of the event loop leaves at its end, in order and with one system
 * call. `end` writes it before that. For sockets with many short writes: on such a socket, the call is most of the cost.
 */
export function gatherWrites(stream: Writable): void {
  const { write } = stream
  let isGathering = false

  function release(): void {
    isGathering = false
    stream.uncork()
  }

  stream.write = (...given: unknown[]) => {
    if (!isGathering) {
      isGathering = true
      stream.cork()
      setImmediate(release)
    }
    return Reflect.apply(write, stream, given)
  }
}
