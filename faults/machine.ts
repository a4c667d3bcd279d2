import { readdirSync, readFileSync } from 'node:fs'

/** Measures what other processes take of the processors while a trial runs. Linux only: elsewhere it measures nothing. */
export type MachineWatch = {
  /** Ends the watch; the share of all processors, from 0 to 1, that processes of others had. */
  stop(): number
}

const sampleEveryMs = 1000

/** Above this share the machine counts as busy. */
const idleShareMax = 0.1
const stretchMax = 6

/** The factor by which promises about time are multiplied when other processes take this share of the machine. */
export function stretchFor(othersShare: number): number {
  return othersShare > idleShareMax ? Math.min(stretchMax, 1 / (1 - othersShare)) : 1
}

type Sample = { busy: number; all: number; own: Map<number, number> }

export function watchMachine(): MachineWatch {
  let before = takeSample()
  let busy = 0
  let all = 0
  let own = 0

  function measure(): void {
    const now = takeSample()
    if (before && now) {
      busy += now.busy - before.busy
      all += now.all - before.all
      // Only processes that lived at both ends of the second. What one used that ended meanwhile counts as others' use.
      for (const [pid, ticks] of now.own) own += Math.max(0, ticks - (before.own.get(pid) ?? ticks))
    }
    before = now
  }

  const timer = setInterval(measure, sampleEveryMs)
  return {
    stop() {
      clearInterval(timer)
      measure()
      return all > 0 ? Math.max(0, (busy - own) / all) : 0
    },
  }
}

function takeSample(): Sample | undefined {
  try {
    const total = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, ...rest] = (total.match(/\d+/g) ?? []).map(
      Number,
    )
    // The last two, of guests, are part of the first two. Stolen time is the use of others.
    const busy = [user, nice, system, ...rest.slice(0, 3)].reduce((sum, ticks) => sum + ticks, 0)
    return { busy, all: busy + idle + wait, own: ticksOfDescendants() }
  } catch {
    return undefined
  }
}

/** Of this process and everything that it has started, by process. */
function ticksOfDescendants(): Map<number, number> {
  const processes = new Map<number, { parent: number; ticks: number }>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const stat = pid > 0 ? readStat(pid) : undefined
    if (stat) processes.set(pid, stat)
  }

  function isOurs(pid: number): boolean {
    if (pid === process.pid) return true
    const parent = processes.get(pid)?.parent ?? 0
    return parent > 1 && isOurs(parent)
  }

  return new Map([...processes].flatMap(([pid, { ticks }]) => (isOurs(pid) ? [[pid, ticks] as const] : [])))
}

function readStat(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before the last bracket may hold anything. Then come the state and the parent.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [userAt, systemAt] = [11, 12]
    return { parent: Number(fields[1]), ticks: Number(fields[userAt]) + Number(fields[systemAt]) }
  } catch {
    // It has just ended.
    return undefined
  }
}
