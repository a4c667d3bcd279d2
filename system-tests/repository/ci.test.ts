import { expect, describe as group, test } from 'vitest'
import { describe, failedFiles, judge, type Run } from '../../.ci/outcome.mjs'

const passedTest = { title: 'holds', status: 'passed' }
const failedTest = { title: 'breaks', status: 'failed', failureMessages: ['expected 1 to be 2'] }
const fileOf = (name: string, ...tests: (typeof passedTest)[]) => ({
  name,
  status: tests.some(({ status }) => status === 'failed') ? 'failed' : 'passed',
  message: '',
  assertionResults: tests,
})
const runOf = (...testResults: ReturnType<typeof fileOf>[]): Run => ({
  exitCode: testResults.some(({ status }) => status === 'failed') ? 1 : 0,
  report: { testResults },
})
const outcomeOf = (first: Run, repeated: Record<string, Run> = {}) => ({
  name: 'tests',
  ...judge(first, new Map(Object.entries(repeated))),
})
const lastOf = (...outcomes: ReturnType<typeof outcomeOf>[]) => describe(outcomes, 0)

const first = runOf(fileOf('a', passedTest), fileOf('b', passedTest, failedTest))

group('a file that fails', () => {
  test('is named to be repeated', () => {
    expect(failedFiles(first)).toEqual(['b'])
  })

  test('fails the run when it fails again', () => {
    const { failed, lines } = lastOf(outcomeOf(first, { b: runOf(fileOf('b', passedTest, failedTest)) }))
    expect({ failed, last: lines.at(-1) }).toEqual({ failed: 1, last: '2 passed, 1 failed' })
  })

  test('and passes when repeated fails nothing, and is shown with its first failure', () => {
    const { failed, lines } = lastOf(outcomeOf(first, { b: runOf(fileOf('b', passedTest, passedTest)) }))
    expect({ failed, last: lines.at(-1) }).toEqual({ failed: 0, last: '3 passed, 0 failed' })
    expect(lines.join('\n')).toMatch(/FLAKY.*\n\nb \(tests\)\nbreaks\nexpected 1 to be 2/)
  })

  test('fails the run when its repetition ran none of its tests, or did not end well', () => {
    const skipped = { title: 'breaks', status: 'skipped' }
    for (const again of [
      runOf(fileOf('b', skipped)),
      runOf(),
      { ...runOf(fileOf('b', passedTest)), exitCode: 1 },
      { exitCode: 0, report: undefined },
    ])
      expect(lastOf(outcomeOf(first, { b: again })).failed).toBe(1)
  })

  test('fails the run when a hook of it failed and no test', () => {
    const broken = { ...fileOf('c', passedTest), status: 'failed', message: 'Hook timed out' }
    const run = { exitCode: 1, report: { testResults: [broken] } }
    expect(lastOf(outcomeOf(run)).lines.at(-1)).toBe('1 passed, 1 failed')
  })
})

test('more than two flaky files of all suites together fail the run', () => {
  const flaky = (name: string) =>
    outcomeOf(runOf(fileOf(name, failedTest)), { [name]: runOf(fileOf(name, passedTest)) })
  expect(lastOf(flaky('a'), flaky('b')).failed).toBe(0)
  expect(lastOf(flaky('a'), flaky('b'), flaky('c')).failed).toBe(3)
})

test('a run without tests, and one that fails outside of its tests, is failed', () => {
  for (const run of [
    { exitCode: 0, report: undefined },
    runOf(),
    { exitCode: 0, report: { testResults: [fileOf('a', { title: 'later', status: 'skipped' })] } },
    { exitCode: 1, report: { testResults: [fileOf('a', passedTest)] } },
  ])
    expect(lastOf(outcomeOf(run)).failed).toBe(1)
})

test('a failed check counts as a failed test', () => {
  expect(describe([outcomeOf(runOf(fileOf('a', passedTest)))], 1).lines.at(-1)).toBe('1 passed, 1 failed')
})
