import { makeRandom } from '@wagate/test-kit/random'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { seed, size } from './size.ts'
import { openWorld, type World } from './world.ts'

/** Trials that use one system, one after the other. Each group is given a function that returns it. */
export function describeTrials(...groups: ((find: () => World) => void)[]): void {
  let world: World | undefined

  function theWorld(): World {
    if (!world) throw new Error('The system did not come up')
    return world
  }

  beforeAll(async () => {
    world = await openWorld(size, makeRandom(seed))
  }, 300_000)
  beforeEach(() => theWorld().recover(), 200_000)
  afterAll(() => world?.close(), 60_000)

  describe('no message is lost, doubled, out of order or reported wrongly when', () => {
    for (const group of groups) group(theWorld)
  })
}
