import { setTimeout as delay } from 'node:timers/promises'
import type { System } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'

/** Kills one worker after the other, at equal distances within this time, and starts each again at once. */
export async function killWorkers(
  { devnet }: System,
  workers: string[],
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<void> {
  for (const worker of workers) {
    await delay(ms / (workers.length + 1), undefined, { signal })
    devnet.signal(worker, 'SIGKILL')
    await until(`${worker} is gone`, { withinMs: 5000, everyMs: 5 }, () => devnet.pid(worker) === undefined)
    await devnet.start(worker)
  }
}
