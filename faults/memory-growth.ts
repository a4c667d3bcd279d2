import { setTimeout as delay } from 'node:timers/promises'
import { median } from '@wagate/test-kit/statistics'
import { heldBytes } from './measures.ts'
import type { World } from './world.ts'

/** So many that the middle one knows nothing of what had piled up behind the last fault. */
const looks = 9
const lookEveryMs = 2000

/**
 * By how many bytes the API and all workers grow while the work goes on. Without garbage, of which Node lets more or less
 * lie, and with everything in its place before and after: a worker also holds what belongs to the shards of
 * one that is away, and the commands of each connection that waits for Redis.
 */
export async function growthWhile(
  world: World,
  work: () => Promise<void>,
): Promise<{ apiBytes: number; workersBytes: number }> {
  const before = await look(world)
  await work()
  const after = await look(world)
  const [apiBytes = Number.NaN, ...workers] = after.map(
    (bytes, index) => bytes - (before[index] ?? Number.NaN),
  )
  return { apiBytes, workersBytes: workers.reduce((total, bytes) => total + bytes, 0) }
}

async function look(world: World): Promise<number[]> {
  const names = ['api', ...world.workers]
  await world.untilPlaced()
  const held: number[][] = []
  for (let count = 0; count < looks; count++) {
    await delay(lookEveryMs)
    held.push(await heldBytes(world, names))
  }
  return names.map((_, index) => median(held.map((bytes) => bytes[index] ?? Number.NaN)))
}
