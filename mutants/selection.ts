import type { Mutant } from './mutant.ts'

export type Change = {
  files: ReadonlySet<string>
  /** As they were before the change. */
  formerMutants: Mutant[]
}

/** The mutants whose code, test or entry the change touches. */
export function listTouched(mutants: Mutant[], { files, formerMutants }: Change): Mutant[] {
  const known = new Set(formerMutants.map((mutant) => JSON.stringify(mutant)))
  return mutants.filter((mutant) => {
    const { file, test } = mutant
    const own = [file, test.file, test.written?.file ?? test.file]
    return own.some((name) => files.has(name)) || !known.has(JSON.stringify(mutant))
  })
}

/** The mutants of one test file. `runSeconds`: how long one run of it is expected to take. */
export type MutantGroup = { testFile: string; mutants: Mutant[]; runSeconds: number }

/**
 * Rough figures, which decide the order: measured for packages and the worker, estimated for the rest. The first that a path
 * begins with counts. The tests that are listed by name wait for limits in seconds.
 */
const expectedSeconds: [start: string, seconds: number][] = [
  ['packages/queue/test/command', 12],
  ['packages/db/test/connections', 14],
  ['packages/db/test/tls', 15],
  ['packages/', 2],
  ['apps/worker/', 3],
  ['apps/api/', 5],
  ['faults/test/', 25],
  ['system-tests/', 15],
  ['faults/', 90],
]

/** The cheapest first, so that as many as possible run within a given time. Each group also needs one run without a bug. */
export function groupByTestFile(mutants: Mutant[]): MutantGroup[] {
  return [...new Set(mutants.map(({ test }) => test.file))]
    .map((testFile) => ({
      testFile,
      mutants: mutants.filter(({ test }) => test.file === testFile),
      runSeconds: expectRunSeconds(testFile),
    }))
    .sort((a, b) => secondsPerMutant(a) - secondsPerMutant(b))
}

function secondsPerMutant({ mutants, runSeconds }: MutantGroup): number {
  return runSeconds * (1 + 1 / mutants.length)
}

function expectRunSeconds(testFile: string): number {
  return expectedSeconds.find(([start]) => testFile.startsWith(start))?.[1] ?? 0
}
