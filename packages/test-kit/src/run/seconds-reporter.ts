import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { nameOf, secondsFile } from './longest-first.ts'

/** Writes how long each file of a whole run took, by which the next runs are ordered: `TEST_SECONDS=1 npm test`. */
export class SecondsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = modules
      .map((module) => ({
        file: nameOf(module.moduleId),
        took: Math.round(module.diagnostic().duration / 1000),
      }))
      .filter(({ took }) => took >= 1)
      .sort((one, other) => other.took - one.took || one.file.localeCompare(other.file))
    const rows = Object.fromEntries(seconds.map(({ file, took }) => [file, took]))
    writeFileSync(secondsFile, `${JSON.stringify(rows, null, 2)}\n`)
  }
}
