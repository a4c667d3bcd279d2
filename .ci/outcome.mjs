// The outcome of a suite from the reports of its runs. Without I/O: system-tests/repository/ci.test.ts tests it.

/**
 * @typedef {{ status: string, title: string, fullName?: string, failureMessages?: string[] }} TestResult
 * @typedef {{ name: string, status: string, message?: string, assertionResults: TestResult[] }} FileResult
 * @typedef {{ exitCode: number, report: { testResults: FileResult[] } | undefined }} Run
 * @typedef {{ file: string, failures: string[] }} Flaky
 * @typedef {{ passed: number, failed: number, skipped: number, flaky: Flaky[], problems: string[] }} Outcome
 */

/** A run with more flaky files than this fails. */
export const flakyFilesMax = 2

/**
 * The files in which a test or a hook failed, or that could not be loaded.
 *
 * @param {Run} run
 */
export function failedFiles({ report }) {
  return report?.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name) ?? []
}

/**
 * @param {Run} first
 * @param {Map<string, Run>} repeated the failed files, each run again alone
 * @returns {Outcome}
 */
export function judge(first, repeated) {
  /** @type {Outcome} */
  const outcome = { passed: 0, failed: 0, skipped: 0, flaky: [], problems: [] }
  const results = first.report?.testResults ?? []
  for (const result of results) {
    const again = repeated.get(result.name)
    const second =
      again?.exitCode === 0 ? again.report?.testResults.find(({ name }) => name === result.name) : undefined
    const passedNow = second !== undefined && count(second).failed === 0 && count(second).passed > 0
    const { passed, failed, skipped } = count(passedNow ? second : result)
    outcome.passed += passed
    outcome.failed += failed
    outcome.skipped += skipped
    if (passedNow) outcome.flaky.push({ file: result.name, failures: failuresOf(result) })
  }
  if (outcome.passed + outcome.failed === 0) {
    outcome.failed++
    outcome.problems.push('No test was executed.')
  } else if (first.exitCode !== 0 && failedFiles(first).length === 0) {
    // An error outside of the tests, or a server that does not stop.
    outcome.failed++
    outcome.problems.push('The tests passed, but their run failed.')
  }
  return outcome
}

/** @param {FileResult} file */
function count({ status, assertionResults }) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const test of assertionResults)
    counts[test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped']++
  // A hook, or the loading of the file.
  if (status === 'failed' && counts.failed === 0) counts.failed = 1
  return counts
}

/** @param {FileResult} file */
function failuresOf({ message, assertionResults }) {
  const failures = assertionResults
    .filter(({ status }) => status === 'failed')
    .map(({ title, fullName = title, failureMessages = [] }) => [fullName, ...failureMessages].join('\n'))
  return message ? [...failures, message] : failures
}

/**
 * The last lines of a run: what failed once and then passed, and the counts of all suites.
 *
 * @param {(Outcome & { name: string })[]} outcomes
 * @param {number} failedChecks
 */
export function describe(outcomes, failedChecks) {
  const flaky = outcomes.flatMap(({ name, flaky }) => flaky.map((one) => ({ ...one, suite: name })))
  const tooMany = flaky.length > flakyFilesMax ? flaky.length : 0
  const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ kind) =>
    outcomes.reduce((total, outcome) => total + outcome[kind], 0)
  const failed = sum('failed') + failedChecks + tooMany
  const lines = outcomes.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))
  if (flaky.length > 0) lines.push('', 'FLAKY: these files failed once and passed when repeated alone.')
  for (const { suite, file, failures } of flaky) lines.push('', `${file} (${suite})`, ...failures)
  if (tooMany > 0)
    lines.push('', `${tooMany} flaky files are more than ${flakyFilesMax}, so they count as failed.`)
  if (sum('skipped') > 0) lines.push(`${sum('skipped')} skipped`)
  lines.push(`${sum('passed')} passed, ${failed} failed`)
  return { lines, failed }
}
