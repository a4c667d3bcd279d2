import { setTimeout as delay } from 'node:timers/promises'
import { makeRandom } from '@wagate/test-kit/random'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { mebibyte } from './measures.ts'
import { growthWhile } from './memory-growth.ts'
import { faultsOfProcesses, passingFaults } from './mixed-faults.ts'
import { isShort, seed } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** For trying it: FAULTS_MIX_MINUTES. The memory in fewer than these says nothing: processes that have just started grow. */
const memoryMinutesMin = 10
const minutes = Number(process.env.FAULTS_MIX_MINUTES ?? memoryMinutesMin)
const restMsMax = 5000
const shareWithDeaths = 0.3
const shareOfWarmUp = 0.2
/** What may be kept for each message that has gone through: in these five minutes 8 % of the API, 5 % of the workers. */
const keptBytesMax = { api: 100, workers: 300 }

export function mixedFaults(find: () => World): void {
  // Fails when a worker keeps every message that it has sent (519 bytes a message; 95 to 134 without).
  it.skipIf(isShort)(
    '26: all of this happens at random for ten minutes',
    { timeout: (minutes + 8) * 60_000 },
    async () => {
      // A separate generator: the load draws from the shared one at times that differ between runs.
      const world = { ...find(), random: makeRandom(seed) }
      const allMs = minutes * 60_000
      const counts: Record<string, number> = {}

      async function cause(faults: typeof passingFaults, forMs: number): Promise<void> {
        const names = Object.keys(faults)
        const endsAt = performance.now() + forMs
        while (performance.now() < endsAt) {
          const name = names[Math.floor(world.random() * names.length)] ?? ''
          counts[name] = (counts[name] ?? 0) + 1
          await faults[name]?.(world)
          await delay(world.random() * restMsMax)
        }
      }

      let growth = { apiBytes: 0, workersBytes: 0 }
      let messages = 0
      await trial(world, '26 mix', async ({ sent }) => {
        await cause({ ...faultsOfProcesses, ...passingFaults }, shareWithDeaths * allMs)
        await world.startWhatDied()
        // From here on processes live on, so that what they keep shows, once they have grown to their size.
        await cause(passingFaults, shareOfWarmUp * allMs)
        growth = await growthWhile(world, async () => {
          const before = sent.length
          await cause(passingFaults, (1 - shareWithDeaths - shareOfWarmUp) * allMs)
          messages = sent.length - before
        })
      })
      note('26 mix', counts)
      const keptBytes = { api: growth.apiBytes / messages, workers: growth.workersBytes / messages }
      note('26 mix', {
        'API grows MiB': growth.apiBytes / mebibyte,
        'workers grow MiB': growth.workersBytes / mebibyte,
        'API keeps bytes a message': keptBytes.api,
        'workers keep bytes a message': keptBytes.workers,
      })
      if (minutes < memoryMinutesMin) return
      expect(keptBytes.api).toBeLessThan(keptBytesMax.api)
      expect(keptBytes.workers).toBeLessThan(keptBytesMax.workers)
    },
  )
}
