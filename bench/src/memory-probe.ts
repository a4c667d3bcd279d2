import { existsSync, readFileSync, rmSync } from 'node:fs'
import { until } from '@wagate/test-kit/until'

/** Environment of a process that writes its memory to the file after a forced garbage collection. */
export function memoryProbe(file: string): NodeJS.ProcessEnv {
  const probe = new URL('./probes/memory.mjs', import.meta.url).href
  return { NODE_OPTIONS: `--import ${probe}`, WAGATE_BENCH_FILE: file }
}

/** The heap of such a process after a forced garbage collection. */
export async function readHeapBytes(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  await until('the garbage is collected', { withinMs: 20_000, everyMs: 50 }, () => existsSync(file))
  return (JSON.parse(readFileSync(file, 'utf8')) as NodeJS.MemoryUsage).heapUsed
}
