import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The account that Postgres runs under when we are root, because it refuses to run as root. */
export type RunAs = { name: string; uid: number; gid: number }

/** Undefined unless this process is root. Prefers the account of an installed Postgres. */
export function findRunAs(): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined
  return readAccount('postgres') ?? readAccount('nobody') ?? { name: 'nobody', uid: 65534, gid: 65534 }
}

/** Whether that account can enter the folder: the home of root usually excludes other accounts. */
export function canEnter(folder: string, runAs: RunAs | undefined): boolean {
  if (!runAs) return true
  const { uid, gid } = runAs
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', uid, gid }).status === 0
}

function readAccount(name: string): RunAs | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid && gid && Number(uid) > 0 ? { name, uid: Number(uid), gid: Number(gid) } : undefined
}
