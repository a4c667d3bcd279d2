import { readRssBytes } from '../src/harness/resident-memory.ts'
import type { World } from './world.ts'

const everyMs = 2000
const trendMs = 300_000
/** A process that has just started grows to its size. */
const warmUpShare = 0.3

/** Follows the memory of processes that go on living; `close` says by which share each grows in five minutes. */
export function watchMemory({ devnet }: World, names: string[]): { close(): Record<string, number> } {
  const samples = names.map((name) => ({ name, points: [] as Point[] }))
  const timer = setInterval(() => {
    for (const { name, points } of samples) {
      const pid = devnet.pid(name)
      if (pid !== undefined) points.push({ atMs: performance.now(), bytes: readRssBytes(pid) })
    }
  }, everyMs)
  return {
    close() {
      clearInterval(timer)
      return Object.fromEntries(samples.map(({ name, points }) => [name, growthOf(points)]))
    },
  }
}

type Point = { atMs: number; bytes: number }

/** By the line with the least squares. */
function growthOf(all: Point[]): number {
  const points = all.slice(Math.floor(all.length * warmUpShare))
  const meanMs = mean(points.map(({ atMs }) => atMs))
  const meanBytes = mean(points.map(({ bytes }) => bytes))
  const covariance = mean(points.map(({ atMs, bytes }) => (atMs - meanMs) * (bytes - meanBytes)))
  const variance = mean(points.map(({ atMs }) => (atMs - meanMs) ** 2))
  return ((covariance / variance) * trendMs) / meanBytes
}

function mean(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0) / numbers.length
}
