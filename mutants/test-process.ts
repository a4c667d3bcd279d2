import { join } from 'node:path'
import { createVitest, type Reporter, type TestCase } from 'vitest/node'

export type TestRequest = {
  file: string
  titles: string[]
  /** Has changed since the last request, and will change again before the next one. */
  changedFile: string | undefined
}
/** `broken`: the test did not run to its end, so that nothing is known. */
export type TestResult = 'passed' | 'failed' | 'broken'
export type TestAnswer = [title: string, TestResult][]

/**
 * A process in which Vitest stays loaded, with its servers, its template database and what it has transformed. Each request
 * runs tests of one file in a new process of Vitest, as always. Ends when its parent disconnects.
 */
async function serve(config: string): Promise<void> {
  Object.assign(process.env, { VITEST: 'true', TEST: 'true', NODE_ENV: 'test' })
  let ended: TestCase[] = []
  // The state that Vitest keeps may be that of an earlier run, when this one did not get to its tests.
  const collector: Reporter = { onTestCaseResult: (test) => void ended.push(test) }
  const reporters = process.env.MUTANTS_SHOW ? [collector, 'default'] : [collector]
  const vitest = await createVitest('test', { config, watch: false, reporters })
  await vitest.standalone()

  async function run({ file, titles, changedFile }: TestRequest): Promise<TestAnswer> {
    const path = join(process.cwd(), file)
    const specifications = await vitest.globTestSpecifications([path])
    vitest.setGlobalTestNamePattern(titles.map(escapePattern).join('|'))
    ended = []
    if (changedFile) vitest.invalidateFile(join(process.cwd(), changedFile))
    await vitest.runTestSpecifications(specifications.filter(({ moduleId }) => moduleId === path))
    if (changedFile) vitest.invalidateFile(join(process.cwd(), changedFile))
    return titles.map((title) => [title, resultOf(ended.filter(({ name }) => name === title))])
  }

  async function answer(request: TestRequest): Promise<void> {
    const results = await run(request).catch((error: unknown): TestAnswer => {
      console.error(error)
      return request.titles.map((title) => [title, 'broken'])
    })
    process.send?.(results)
  }

  process.on('message', (request: TestRequest) => {
    void answer(request)
  })
  process.on('disconnect', () => {
    void vitest.close().finally(() => process.exit())
  })
}

function resultOf(tests: TestCase[]): TestResult {
  const states = tests.map((test) => test.result().state)
  if (states.includes('failed')) return 'failed'
  return states.includes('passed') ? 'passed' : 'broken'
}

function escapePattern(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

await serve(process.argv[2] ?? '')
