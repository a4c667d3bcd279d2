import { askProbe } from '@wagate/test-kit/ask-probe'

/** Environment of a process that writes its memory to the file after a forced garbage collection. */
export function memoryProbe(file: string): NodeJS.ProcessEnv {
  const probe = new URL('./probes/memory.mjs', import.meta.url).href
  return { NODE_OPTIONS: `--import ${probe}`, WAGATE_BENCH_FILE: file }
}

/** The heap of such a process after a forced garbage collection. */
export async function readHeapBytes(pid: number, file: string): Promise<number> {
  return (JSON.parse(await askProbe(pid, file)) as NodeJS.MemoryUsage).heapUsed
}
