import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../src/harness/statistics.ts'
import { heldBytes } from './measures.ts'
import type { World } from './world.ts'

const everyMs = 10_000
const trendMs = 300_000
/** A process that has just started grows to its size. */
const warmUpShare = 0.3

/**
 * Follows the memory of processes that go on living; `close` says by which share each grows in five minutes. By what
 * they hold without garbage: how much of that Node lets lie varies threefold.
 */
export function watchMemory(world: World): { close(): Promise<Record<string, number>> } {
  const closing = new AbortController()
  const readers = ['api', ...world.workers].map(follow)

  async function follow(name: string) {
    const points: Point[] = []
    while (!closing.signal.aborted) {
      // One that is stopped for a while does not answer.
      const point = await look(name).catch(() => undefined)
      if (point) points.push(point)
      await delay(everyMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
    return [name, growthOf(points)] as const
  }

  async function look(name: string): Promise<Point> {
    const bytes = await heldBytes(world, name)
    const shards = world.workers.includes(name) ? (await world.health(name)).owned_shards : 0
    return { atMs: performance.now(), bytes, shards }
  }

  return {
    async close() {
      closing.abort()
      return Object.fromEntries(await Promise.all(readers))
    },
  }
}

type Point = { atMs: number; bytes: number; shards: number }

/**
 * By the median of the slopes between any two points: a peak that passes is no trend. Nor are the shards of another
 * worker, a quarter of a MB each, which one has while that one is away.
 */
function growthOf(all: Point[]): number {
  const usualShards = median(all.map(({ shards }) => shards))
  const points = all
    .slice(Math.floor(all.length * warmUpShare))
    .filter(({ shards }) => shards === usualShards)
  const slopes = points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => (other.bytes - one.bytes) / (other.atMs - one.atMs)),
  )
  return (median(slopes) * trendMs) / median(points.map(({ bytes }) => bytes))
}
