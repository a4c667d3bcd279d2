import { once } from 'node:events'

export async function untilAborted(signal: AbortSignal): Promise<void> {
  // A timer keeps the process alive; waiting for an event does not.
  const keepAlive = setInterval(() => undefined, 60_000)
  if (!signal.aborted) await once(signal, 'abort')
  clearInterval(keepAlive)
}
