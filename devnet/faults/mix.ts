import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { growthWhile } from './memory-growth.ts'
import { faultsOfProcesses, passingFaults } from './mixed-faults.ts'
import { makeRandom } from './random.ts'
import { isShort, seed } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** For trying it: FAULTS_MIX_MINUTES. The memory in fewer than these says nothing: processes that have just started grow. */
const memoryMinutesMin = 10
const minutes = Number(process.env.FAULTS_MIX_MINUTES ?? memoryMinutesMin)
const restMsMax = 5000
const growthMax = 0.1
const warmUpShare = 0.2

export function mixedFaults(find: () => World): void {
  // Failed when a cached token kept the stanza that it came in (12 %, not in each run).
  it.skipIf(isShort)(
    '26: all of this happens at random for ten minutes',
    { timeout: (minutes + 8) * 60_000 },
    async () => {
      // Numbers of its own: the load takes from the others at moments of its own.
      const world = { ...find(), random: makeRandom(seed) }
      const halfMs = minutes * 30_000
      const counts: Record<string, number> = {}

      async function meet(faults: typeof passingFaults, forMs: number): Promise<void> {
        const names = Object.keys(faults)
        const endsAt = performance.now() + forMs
        while (performance.now() < endsAt) {
          const name = names[Math.floor(world.random() * names.length)] ?? ''
          counts[name] = (counts[name] ?? 0) + 1
          await faults[name]?.(world)
          await delay(world.random() * restMsMax)
        }
      }

      let growth: Record<string, number> = {}
      await trial(world, '26 mix', async () => {
        await meet({ ...faultsOfProcesses, ...passingFaults }, halfMs)
        await world.startWhatDied()
        // From here on processes live on, so that what they keep shows, once they have grown to their size.
        await meet(passingFaults, warmUpShare * halfMs)
        growth = await growthWhile(world, () => meet(passingFaults, (1 - warmUpShare) * halfMs))
      })
      note('26 mix', counts)
      const percent = Object.entries(growth).map(([name, share]) => [`${name} grows %`, share * 100])
      note('26 mix', Object.fromEntries(percent))
      if (minutes < memoryMinutesMin) return
      for (const share of Object.values(growth)) expect(share).toBeLessThan(growthMax)
    },
  )
}
