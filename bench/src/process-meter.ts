import { readRssBytes } from '@wagate/test-kit/resident-memory'
import type { System } from '@wagate/test-kit/system'
import { ownCpuMs, readCpuMsOf } from './process-usage.ts'

/** `rssMb`: of the largest process of the group. */
type Usage = { cpuMs: number; rssMb: { atStart: number; peak: number; atEnd: number } }
export type Usages = Record<Group, Usage>

/** `client` is this process. */
export const groups = ['workers', 'api', 'postgres', 'redis', 'simulator', 'client'] as const
export type Group = (typeof groups)[number]

const sampleEveryMs = 500
const mebibyte = 2 ** 20

type Sample = { cpuMs: Map<number, number>; rssMb: Record<Group, number> }

/** CPU time and memory of the processes of a system, also of those that are killed or started meanwhile. */
export function startProcessMeter(devnet: System['devnet']): { stop(): Usages } {
  const pidsOf: Record<Group, Set<number>> = {
    workers: new Set(),
    api: new Set(),
    postgres: new Set(),
    redis: new Set(),
    simulator: new Set(),
    client: new Set([process.pid]),
  }
  const lastCpuMs = new Map<number, number>()
  const peakMb = Object.fromEntries(groups.map((group) => [group, 0])) as Record<Group, number>

  function sample(): Sample {
    const workers = devnet.names().filter((name) => name.startsWith('worker-'))
    const running = (group: Group) => {
      if (group === 'client') return [process.pid]
      return (group === 'workers' ? workers : [group]).flatMap((name) => devnet.pid(name) ?? [])
    }
    const rssMb = { ...peakMb }
    for (const group of groups) {
      for (const pid of running(group)) pidsOf[group].add(pid)
      rssMb[group] = Math.max(0, ...running(group).map(readRssMb))
      peakMb[group] = Math.max(peakMb[group], rssMb[group])
    }
    const cpuMs = readCpuMsOf(groups.filter((group) => group !== 'client').flatMap(running))
    cpuMs.set(process.pid, ownCpuMs())
    for (const [pid, ms] of cpuMs) lastCpuMs.set(pid, ms)
    return { cpuMs, rssMb }
  }

  const first = sample()
  const timer = setInterval(sample, sampleEveryMs)

  return {
    stop() {
      clearInterval(timer)
      const last = sample()
      const usageOf = (group: Group): Usage => ({
        // A process that was started meanwhile had used nothing before.
        cpuMs: [...pidsOf[group]].reduce(
          (total, pid) => total + (lastCpuMs.get(pid) ?? 0) - (first.cpuMs.get(pid) ?? 0),
          0,
        ),
        rssMb: { atStart: first.rssMb[group], peak: peakMb[group], atEnd: last.rssMb[group] },
      })
      return Object.fromEntries(groups.map((group) => [group, usageOf(group)])) as Usages
    },
  }
}

/** 0 for a process that has just ended. Linux lists it for a moment, without its memory. */
function readRssMb(pid: number): number {
  try {
    return Math.round(readRssBytes(pid) / mebibyte) || 0
  } catch {
    return 0
  }
}
