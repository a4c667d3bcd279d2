import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second. */
const tickMs = 10

type Stat = { pid: number; parent: number; cpuMs: number; endedChildrenCpuMs: number }

/** CPU time of a process and all its descendants so far, including those that have ended. Linux only. */
export function readCpuMs(pid: number): number {
  return readCpuMsOf([pid]).get(pid) ?? 0
}

/** The same for several processes, which costs hardly more than for one. 0 for one that has ended. */
export function readCpuMsOf(pids: number[]): Map<number, number> {
  const stats = listStats()
  return new Map(pids.map((pid) => [pid, sumOfFamily(stats, pid)]))
}

function sumOfFamily(stats: Stat[], pid: number): number {
  const family = new Set([pid])
  // A child may come before its parent in the list.
  for (let size = 0; size !== family.size; ) {
    size = family.size
    for (const { pid: child, parent } of stats) if (family.has(parent)) family.add(child)
  }
  return stats
    .filter((stat) => family.has(stat.pid))
    .reduce((total, { cpuMs, endedChildrenCpuMs }) => total + cpuMs + endedChildrenCpuMs, 0)
}

export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function listStats(): Stat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)))
}

function readStat(pid: number): Stat[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may contain anything; field 3 (state) is the first after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const field = (number: number) => Number(fields[number - 3])
    return [
      {
        pid,
        parent: field(4),
        cpuMs: (field(14) + field(15)) * tickMs,
        endedChildrenCpuMs: (field(16) + field(17)) * tickMs,
      },
    ]
  } catch {
    // It ended while we were reading.
    return []
  }
}
