import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reporter, TestModule } from 'vitest/node'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))
const table = fileURLToPath(new URL('./seconds.json', import.meta.url))

/** Writes how long each file of a whole run took, by which the next runs are ordered: `TEST_SECONDS=1 npm test`. */
export class SecondsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = modules
      .map((module) => ({
        file: relative(repository, module.moduleId),
        took: Math.round(module.diagnostic().duration / 1000),
      }))
      .filter(({ took }) => took >= 1)
      .sort((one, other) => other.took - one.took || one.file.localeCompare(other.file))
    const rows = Object.fromEntries(seconds.map(({ file, took }) => [file, took]))
    writeFileSync(table, `${JSON.stringify(rows, null, 2)}\n`)
  }
}
