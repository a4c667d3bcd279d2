import { readFileSync } from 'node:fs'

/** Resident memory of one process. Linux only. */
export function readRssBytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
