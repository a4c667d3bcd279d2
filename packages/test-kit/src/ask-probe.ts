import { existsSync, readFileSync, rmSync } from 'node:fs'
import { until } from './until.ts'

/** Sends SIGUSR2 to the process, and returns what the probe that was loaded into it then writes to the file. */
export async function askProbe(pid: number, file: string): Promise<string> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  await until('the probe answers', { withinMs: 20_000, everyMs: 50 }, () => existsSync(file))
  return readFileSync(file, 'utf8')
}
