import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))

/** How many seconds each file takes. */
export const secondsFile = fileURLToPath(new URL('./seconds.json', import.meta.url))

/** Files that start many processes. They wait for leases and time-outs most of the time. */
const startsProcesses = /^(system-tests\/[^/]+|(devnet|faults)\/test\/.*)$/
/** How many of such files run at a time. What they leave of the processors is for one of the other files. */
const systemsAtOnce = 3

/** As the table names a file. */
export const nameOf = (moduleId: string) => relative(repository, moduleId)

/**
 * Starts the files that take longest first, so that the processors finish together, and mixes those that mostly wait with
 * those that mostly compute. `TEST_SECONDS=1 npm test` writes the table. A file that is not in it takes less than a second
 * or is new.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds: Record<string, number> = JSON.parse(readFileSync(secondsFile, 'utf8'))
    return inOrder(files, (file) => nameOf(file.moduleId), seconds)
  }
}

export function inOrder<File>(
  files: File[],
  nameOf: (file: File) => string,
  seconds: Record<string, number>,
): File[] {
  const secondsOf = (file: File) => seconds[nameOf(file)] ?? 0
  const longestFirst = files.toSorted((one, other) => secondsOf(other) - secondsOf(one))
  const isSystem = (file: File) => startsProcesses.test(nameOf(file))
  const startSeconds = new Map([
    ...startsOf(longestFirst.filter(isSystem), secondsOf, systemsAtOnce),
    ...startsOf(
      longestFirst.filter((file) => !isSystem(file)),
      secondsOf,
      1,
    ),
  ])
  const startOf = (file: File) => startSeconds.get(file) ?? 0
  return longestFirst.toSorted((one, other) => startOf(one) - startOf(other))
}

/** When each file starts, if so many run at a time, in their order. */
function startsOf<File>(
  files: File[],
  secondsOf: (file: File) => number,
  atOnce: number,
): [file: File, startSeconds: number][] {
  const freeFrom = Array.from({ length: atOnce }, () => 0)
  return files.map((file) => {
    const start = Math.min(...freeFrom)
    freeFrom[freeFrom.indexOf(start)] = start + secondsOf(file)
    return [file, start]
  })
}
