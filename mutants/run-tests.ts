import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `broken`: none of the tests ran to its end, so that nothing is known. */
export type TestResult = 'passed' | 'failed' | 'broken'

type Report = { testResults: { assertionResults: { title: string; status: string }[] }[] }

const runMsMax = 300_000
const running = new Set<ChildProcess>()

/** Runs tests of one file, each given by its whole title, and says what became of each. */
export async function runTests(
  folder: string,
  file: string,
  titles: string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Map<string, TestResult>> {
  const reportFolder = mkdtempSync(join(tmpdir(), 'wagate-mutant-'))
  const reportFile = join(reportFolder, 'report.json')
  const config = file.endsWith('.fault.ts') ? 'vitest.faults.config.ts' : 'vitest.config.ts'
  const pattern = titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const program = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, file, '-t', pattern]
  try {
    await runToEnd([...program, '--reporter=json', `--outputFile=${reportFile}`], folder, environment)
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
    const ran = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    return new Map(titles.map((title) => [title, resultOf(ran.filter((test) => test.title === title))]))
  } catch {
    return new Map(titles.map((title) => [title, 'broken']))
  } finally {
    rmSync(reportFolder, { recursive: true, force: true })
  }
}

function resultOf(tests: { status: string }[]): TestResult {
  if (tests.some(({ status }) => status === 'failed')) return 'failed'
  return tests.some(({ status }) => status === 'passed') ? 'passed' : 'broken'
}

export function endRunningTests(): void {
  for (const child of running) child.kill('SIGTERM')
}

function runToEnd(program: string[], cwd: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, program, {
    cwd,
    env: { ...process.env, FAULTS: 'short', ...environment },
    stdio: process.env.MUTANTS_SHOW ? 'inherit' : 'ignore',
    timeout: runMsMax,
  })
  running.add(child)
  return new Promise((resolve) => {
    child.on('close', () => {
      running.delete(child)
      resolve()
    })
  })
}
