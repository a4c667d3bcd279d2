import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { testServers } from '@wagate/test-kit/servers/test-run'
import { setup } from '@wagate/test-kit/servers/test-servers'
import { findChange } from './find-change.ts'
import type { Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'
import { copyRepository, type RepositoryCopy } from './repository-copy.ts'
import { groupByTestFile, listTouched, type MutantGroup } from './selection.ts'
import { makeTestRunner, type TestRunner } from './test-runner.ts'

type Run = {
  copy: RepositoryCopy
  tests: TestRunner
  /** Whether something that takes so long may still begin. */
  hasTimeFor(seconds: number): boolean
  /** Whether the time is up. What ran until then was ended. */
  isOver(): boolean
  problems: string[]
  notRun: string[]
}

const startedAt = performance.now()
let isStopped = false
let running: TestRunner | undefined

/**
 * Plants one bug at a time in a copy of the repository and runs the test that must fail. It is an error if the test fails
 * without the bug, if the code to change is not found, or if the test passes with the bug. `--only <name>` runs one
 * mutant, `--changed` those that a change touches (`--since <commit>`), the cheapest first. `--within <minutes>` ends then,
 * and names those that were not run. `--check` runs no tests and only checks that the code and the test of every mutant are found.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      changed: { type: 'boolean' },
      since: { type: 'string' },
      within: { type: 'string' },
      check: { type: 'boolean' },
    },
  })
  let chosen = mutants.filter(({ name }) => !values.only || values.only.includes(name))
  if (chosen.length === 0) throw new Error(`There is no such mutant: ${values.only?.join(', ')}`)
  if (values.changed) {
    const change = await findChange(values.since)
    chosen = listTouched(chosen, change)
    const count = chosen.length === 0 ? 'No mutant is' : `${chosen.length} of ${mutants.length} mutants are`
    console.log(`${count} touched by the ${change.files.size} files that changed since ${change.base}`)
    if (chosen.length === 0) return 0
  }
  const copy = copyRepository()
  try {
    if (values.check)
      return report(
        chosen.length,
        chosen.flatMap((mutant) => findObstacle(copy, mutant) ?? []),
      )
    return await runAll(copy, chosen, Number(values.within ?? Number.POSITIVE_INFINITY))
  } finally {
    copy.remove()
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

async function runAll(copy: RepositoryCopy, chosen: Mutant[], minutesMax: number): Promise<number> {
  if (!(minutesMax > 0)) throw new Error('--within takes a number of minutes')
  const stopServers = await startServers()
  const tests = makeTestRunner(copy.folder)
  running = tests
  const hasTimeFor = (seconds: number) => !isStopped && secondsSince(startedAt) + seconds <= minutesMax * 60
  const isOver = () => !hasTimeFor(0)
  const end = Number.isFinite(minutesMax) && setInterval(() => isOver() && tests.kill(), 1000)
  const run: Run = { copy, tests, hasTimeFor, isOver, problems: [], notRun: [] }
  try {
    for (const group of groupByTestFile(chosen)) await runGroup(run, group)
    if (isStopped) run.problems.push('stopped')
    return report(chosen.length, run.problems, run.notRun)
  } finally {
    if (end) clearInterval(end)
    await tests.close()
    await stopServers()
  }
}

/** First without a bug: what fails anyway notices nothing. */
async function runGroup(run: Run, { testFile, mutants, runSeconds }: MutantGroup): Promise<void> {
  const { tests, hasTimeFor, isOver, problems, notRun } = run
  if (!hasTimeFor(2 * runSeconds)) {
    notRun.push(...mutants.map(({ name }) => name))
    return
  }
  const begunAt = performance.now()
  const titles = [...new Set(mutants.map(({ test }) => test.title))]
  const unchanged = await tests.run({ file: testFile, titles, changedFile: undefined })
  if (isOver()) {
    notRun.push(...mutants.map(({ name }) => name))
    return
  }
  const seconds = secondsSince(begunAt)
  console.log(`unchanged  ${testFile}  ${seconds.toFixed(1)} s`)
  for (const [title, result] of unchanged)
    if (result !== 'passed') problems.push(`${testFile}, "${title}", without a mutant: ${result}`)
  for (const mutant of mutants.filter(({ test }) => unchanged.get(test.title) === 'passed')) {
    if (!hasTimeFor(seconds)) notRun.push(mutant.name)
    else problems.push(...(await runMutant(run, mutant)))
  }
}

async function runMutant(run: Run, mutant: Mutant): Promise<string[]> {
  const begunAt = performance.now()
  const outcome = await tryMutant(run, mutant)
  if (run.isOver() && outcome !== 'SURVIVED' && outcome !== 'caught') {
    run.notRun.push(mutant.name)
    return []
  }
  console.log(`${outcome}  ${mutant.name}  by "${mutant.test.title}"  ${secondsSince(begunAt).toFixed(1)} s`)
  return outcome === 'caught' ? [] : [`${mutant.name}: ${outcome}`]
}

async function tryMutant({ copy, tests }: Run, mutant: Mutant): Promise<string> {
  const { file, text, replacement, test } = mutant
  const obstacle = findObstacle(copy, mutant)
  if (obstacle) return obstacle
  const undo = copy.change(file, text, replacement)
  try {
    const results = await tests.run({ file: test.file, titles: [test.title], changedFile: file })
    const result = results.get(test.title)
    return result === 'failed' ? 'caught' : result === 'passed' ? 'SURVIVED' : 'broken: the test did not run'
  } finally {
    undo()
  }
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

function report(count: number, problems: string[], notRun: string[] = []): number {
  const minutes = (secondsSince(startedAt) / 60).toFixed(1)
  console.log(`\n${count} mutants, ${problems.length} problems, ${minutes} minutes`)
  for (const problem of problems) console.log(`  ${problem}`)
  if (notRun.length > 0) console.log(`${notRun.length} of them were not run, for lack of time:`)
  for (const name of notRun) console.log(`  ${name}`)
  return problems.length > 0 ? 1 : 0
}

function secondsSince(beginning: number): number {
  return (performance.now() - beginning) / 1000
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isStopped = true
    running?.kill()
  })
}
process.exitCode = await main()
