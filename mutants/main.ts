import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { testServers } from '@wagate/test-kit/servers/test-run'
import { setup } from '@wagate/test-kit/servers/test-servers'
import type { Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'
import { copyRepository, type RepositoryCopy } from './repository-copy.ts'
import { endRunningTests, runTests } from './run-tests.ts'

const stopping = new AbortController()

/**
 * Plants one bug at a time in a copy of the repository and runs the test that must fail. It is an error if the test fails
 * without the bug, if the code to change is not found, or if the test passes with the bug. `--only <name>` runs one
 * mutant. `--check` runs no tests and only checks that the code and the test of every mutant are found.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: 'string', multiple: true }, check: { type: 'boolean' } },
  })
  const chosen = mutants.filter(({ name }) => !values.only || values.only.includes(name))
  if (chosen.length === 0) throw new Error(`There is no such mutant: ${values.only?.join(', ')}`)
  const startedAt = performance.now()
  const copy = copyRepository()
  const stopServers = values.check ? undefined : await startServers()
  try {
    const problems = values.check
      ? chosen.flatMap((mutant) => findObstacle(copy, mutant) ?? [])
      : [...(await runUnchanged(copy, chosen)), ...(await runChanged(copy, chosen))]
    const minutes = (performance.now() - startedAt) / 60_000
    console.log(`\n${chosen.length} mutants, ${problems.length} problems, ${minutes.toFixed(1)} minutes`)
    for (const problem of problems) console.log(`  ${problem}`)
    return problems.length > 0 ? 1 : 0
  } finally {
    copy.remove()
    await stopServers?.()
  }
}

/** For all runs of tests. */
async function startServers(): Promise<() => Promise<void>> {
  const stop = setup()
  const { databaseUrl, redisUrl } = await testServers()
  process.env.TEST_DATABASE_URL = databaseUrl
  process.env.TEST_REDIS_URL = redisUrl
  return stop
}

/** What fails anyway notices nothing. */
async function runUnchanged({ folder }: RepositoryCopy, chosen: Mutant[]): Promise<string[]> {
  const problems: string[] = []
  for (const file of new Set(chosen.map(({ test }) => test.file))) {
    const titles = new Set(chosen.flatMap(({ test }) => (test.file === file ? [test.title] : [])))
    if (stopping.signal.aborted) return ['stopped']
    const startedAt = performance.now()
    const results = await runTests(folder, file, [...titles])
    console.log(`unchanged  ${file}  ${secondsSince(startedAt)}`)
    for (const [title, result] of results)
      if (result !== 'passed') problems.push(`${file}, "${title}", without a mutant: ${result}`)
  }
  return problems
}

async function runChanged(copy: RepositoryCopy, chosen: Mutant[]): Promise<string[]> {
  const problems: string[] = []
  for (const mutant of chosen) {
    if (stopping.signal.aborted) return [...problems, 'stopped']
    const startedAt = performance.now()
    const outcome = await tryMutant(copy, mutant)
    if (outcome !== 'caught') problems.push(`${mutant.name}: ${outcome}`)
    console.log(`${outcome}  ${mutant.name}  by "${mutant.test.title}"  ${secondsSince(startedAt)}`)
  }
  return problems
}

function findObstacle(
  copy: RepositoryCopy,
  { name, file, text, replacement, test }: Mutant,
): string | undefined {
  const written = { ...test, ...test.written }
  if (!readFileSync(join(copy.folder, written.file), 'utf8').includes(written.title)) {
    return `${name}: there is no test "${written.title}" in ${written.file}`
  }
  try {
    copy.change(file, text, replacement)()
    return undefined
  } catch (error) {
    return `${name} does not apply: ${error instanceof Error ? error.message : error}`
  }
}

async function tryMutant(copy: RepositoryCopy, mutant: Mutant): Promise<string> {
  const { file, text, replacement, test } = mutant
  const obstacle = findObstacle(copy, mutant)
  if (obstacle) return obstacle
  const undo = copy.change(file, text, replacement)
  try {
    const result = (await runTests(copy.folder, test.file, [test.title])).get(test.title)
    return result === 'failed' ? 'caught' : result === 'passed' ? 'SURVIVED' : 'broken: the test did not run'
  } finally {
    undo()
  }
}

function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopping.abort()
    endRunningTests()
  })
}
process.exitCode = await main()
