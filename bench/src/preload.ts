import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { typescript } from '@wagate/devnet/app-process'
import { significant } from '@wagate/test-kit/statistics'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import type { Row } from './table.ts'

const run = promisify(execFile)
const program = fileURLToPath(new URL('./preload-cost.mjs', import.meta.url))
const repository = fileURLToPath(new URL('../..', import.meta.url))
const multiplexer = import.meta.resolve('@wagate/worker/preload/async-context')
const instanceCounts = [0, 50, 200, 500]

/** The cost of an await with many sockets in one process, with and without the preload of the worker. */
export async function measurePreload({ short, node24, signal }: BenchmarkOptions): Promise<Report> {
  if (node24 && !existsSync(node24)) throw new Error(`There is no ${node24}`)
  const rows: Row[] = []
  for (const node of [process.execPath, ...(node24 ? [node24] : [])]) {
    const version = (await run(node, ['--version'])).stdout.trim()
    for (const isPreloaded of [false, true]) {
      const row: Row = { node: version, preload: isPreloaded ? 'async-context.ts' : 'none' }
      for (const count of instanceCounts) {
        signal.throwIfAborted()
        row[`${count} instances`] = await costOfAwait(node, isPreloaded, count, short ? 200 : 1000)
      }
      rows.push(row)
    }
  }
  return { tables: [{ title: 'CPU µs per await', rows }], notes: [], samples: rows }
}

async function costOfAwait(
  node: string,
  isPreloaded: boolean,
  count: number,
  measureMs: number,
): Promise<number | string> {
  // Both load TypeScript, because the preload needs it and it must not make the difference.
  const imports = ['--import', typescript, ...(isPreloaded ? ['--import', multiplexer] : [])]
  const args = [...imports, program, String(count), String(measureMs)]
  try {
    const { stdout } = await run(node, args, { cwd: repository, timeout: 60_000 })
    return significant(JSON.parse(stdout).us)
  } catch (error) {
    if (!isPreloaded) throw error
    return 'does not start'
  }
}
