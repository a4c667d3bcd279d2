import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Ends a server that an earlier run left behind. The mark must be part of its command line, since the number
 * of a process that is gone may belong to something else by now.
 */
export async function endLeftover(pid: number, mark: string, signal: NodeJS.Signals): Promise<void> {
  if (!isLeftover(pid, mark)) return
  process.kill(pid, signal)
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 20) {
    if (!isLeftover(pid, mark)) return
    await delay(20)
  }
  process.kill(pid, 'SIGKILL')
}

/** False also for a process that has ended and that its parent has not taken note of. */
export function isRunning(pid: number): boolean {
  return commandLine(pid) !== ''
}

function isLeftover(pid: number, mark: string): boolean {
  return pid > 1 && commandLine(pid).includes(mark)
}

function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return ''
  }
}
