import { readRssBytes } from '@wagate/test-kit/resident-memory'
import type { System } from '@wagate/test-kit/system'

const sampleEveryMs = 5000
const mebibyte = 2 ** 20

export type MemoryTrend = {
  process: string
  startMb: number
  endMb: number
  peakMb: number
  /** Of the line through all samples after the warm-up, in percent of their mean. */
  percentPerTenMinutes: number
}

type Sample = { atMs: number; bytes: number }

/** Samples the resident memory of every process until it is stopped. What comes before `warmUpMs` is left out. */
export function watchMemory(devnet: System['devnet'], warmUpMs: number): { stop(): MemoryTrend[] } {
  const startedAt = performance.now()
  const samples = new Map<string, Sample[]>()

  function sample(): void {
    const atMs = performance.now() - startedAt
    if (atMs < warmUpMs) return
    for (const name of ['postgres', 'redis', ...devnet.names()]) {
      const pid = devnet.pid(name)
      if (pid === undefined) continue
      const known = samples.get(name) ?? []
      known.push({ atMs, bytes: readRssBytes(pid) })
      samples.set(name, known)
    }
  }

  const timer = setInterval(sample, sampleEveryMs)
  return {
    stop() {
      clearInterval(timer)
      sample()
      return [...samples].map(([process, found]) => trendOf(process, found))
    },
  }
}

export function trendOf(process: string, samples: Sample[]): MemoryTrend {
  const bytes = samples.map((sample) => sample.bytes)
  const toMb = (value: number | undefined) => Math.round((value ?? Number.NaN) / mebibyte)
  return {
    process,
    startMb: toMb(bytes[0]),
    endMb: toMb(bytes.at(-1)),
    peakMb: toMb(Math.max(...bytes)),
    percentPerTenMinutes: (100 * 600_000 * slopeOf(samples)) / meanOf(bytes),
  }
}

/** Bytes a ms, by least squares. */
function slopeOf(samples: Sample[]): number {
  const meanMs = meanOf(samples.map(({ atMs }) => atMs))
  const meanBytes = meanOf(samples.map(({ bytes }) => bytes))
  const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0)
  const above = sum(({ atMs, bytes }) => (atMs - meanMs) * (bytes - meanBytes))
  return above / sum(({ atMs }) => (atMs - meanMs) ** 2)
}

function meanOf(values: number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length
}
