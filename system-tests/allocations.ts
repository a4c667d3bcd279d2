import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askProbe } from '@wagate/test-kit/ask-probe'
import type { TestSystem } from '@wagate/test-kit/test-system'

/** Measures what processes allocate on the heap of JavaScript. */
export type Allocations = {
  /** For the processes to be measured. */
  environment: NodeJS.ProcessEnv
  /** The bytes that each of these processes allocates during `work`, in their order: an estimate, good to a few percent. */
  measure(system: TestSystem, names: string[], work: () => Promise<void>): Promise<number[]>
  close(): void
}

export function openAllocations(): Allocations {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-allocations-'))
  const prefix = join(folder, 'of-')
  const sampler = new URL('sample-allocations.mjs', import.meta.url).href

  /** Begins, or ends and returns the bytes since then. */
  const toggle = async (pid: number) => Number(await askProbe(pid, `${prefix}${pid}`))

  return {
    environment: { NODE_OPTIONS: `--import ${sampler}`, ALLOCATIONS_FILE: prefix },
    async measure({ devnet }, names, work) {
      const pids = names.flatMap((name) => devnet.pid(name) ?? [])
      await Promise.all(pids.map(toggle))
      await work()
      return Promise.all(pids.map(toggle))
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}
