import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a folder that only this user can enter, and removes those with the same prefix of processes that have ended. One for
 * each prefix in a process.
 */
export function makePrivateFolder(prefix: string, parent = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const [, pid] = (name.startsWith(prefix) && /^(\d+)-/.exec(name.slice(prefix.length))) || []
    if (pid && !isOtherProcess(Number(pid))) removeFolder(join(parent, name))
  }
  return mkdtempSync(join(parent, `${prefix}${process.pid}-`))
}

export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // It belongs to another user or was in use until now. Nothing depends on its removal.
  }
}

function isOtherProcess(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
