import { setTimeout as delay } from 'node:timers/promises'
import type { System } from '@wagate/test-kit/system'

const dropEveryMs = 5000
const restartEveryDrops = 12

/** Ends the connection of one sender after the other until the signal comes. Some are restarted on request instead. */
export async function disturb(
  { gateway, phones }: System,
  senders: string[],
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; ; count++) {
    await delay(dropEveryMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const sender = senders[count % senders.length] ?? ''
    if (count % restartEveryDrops === 0) await gateway.call('restart-session', { sender })
    else await phones.fault({ kind: 'drop', sender })
  }
}
