import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../src/harness/statistics.ts'
import { heldBytes } from './measures.ts'
import type { World } from './world.ts'

const looks = 5
const lookEveryMs = 2000

/**
 * By which share the API and each worker grow while the work goes on. Without garbage, of which Node lets more or less
 * lie, and with everything in its place before and after: a worker also holds what belongs to the shards of
 * one that is away, and the commands of each connection that waits for Redis.
 */
export async function growthWhile(world: World, work: () => Promise<void>): Promise<Record<string, number>> {
  const names = ['api', ...world.workers]

  async function look(): Promise<number[]> {
    await world.untilPlaced()
    const held: number[][] = []
    for (let count = 0; count < looks; count++) {
      await delay(lookEveryMs)
      held.push(await heldBytes(world, names))
    }
    return names.map((_, index) => median(held.map((bytes) => bytes[index] ?? Number.NaN)))
  }

  const before = await look()
  await work()
  const after = await look()
  return Object.fromEntries(
    names.map((name, index) => [name, (after[index] ?? Number.NaN) / (before[index] ?? Number.NaN) - 1]),
  )
}
