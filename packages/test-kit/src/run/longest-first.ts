import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))

/** How many seconds each file takes. */
export const secondsFile = fileURLToPath(new URL('./seconds.json', import.meta.url))

/** As the table names a file. */
export const nameOf = (moduleId: string) => relative(repository, moduleId)

/**
 * Starts the files that take longest first, so that the processors finish together. `TEST_SECONDS=1 npm test` writes the
 * table. A file that is not in it takes less than a second or is new.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds: Record<string, number> = JSON.parse(readFileSync(secondsFile, 'utf8'))
    const secondsOf = ({ moduleId }: TestSpecification) => seconds[nameOf(moduleId)] ?? 0
    return files.toSorted((one, other) => secondsOf(other) - secondsOf(one))
  }
}
