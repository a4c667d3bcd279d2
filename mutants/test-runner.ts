import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestAnswer, TestRequest, TestResult } from './test-process.ts'

export type TestRunner = {
  /** Runs tests of one file, each given by its whole title, and says what became of each. */
  run(request: TestRequest): Promise<Map<string, TestResult>>
  /** Ends a run in progress, whose tests are `broken`. */
  kill(): void
  close(): Promise<void>
}

const program = fileURLToPath(new URL('test-process.ts', import.meta.url))
const runMsMax = 300_000
const closeMsMax = 20_000
/** What the servers and the template database are made with, once for each process. */
const setUpFiles = /^packages\/(local-servers|test-kit|db)\/(?!src\/queries\/)/

/** Runs tests in a copy of the repository. One process serves all requests, unless they need another one. */
export function makeTestRunner(folder: string): TestRunner {
  let current: { child: ChildProcess; config: string } | undefined

  async function open(config: string): Promise<ChildProcess> {
    if (current?.config === config) return current.child
    await close()
    const child = fork(program, [config], {
      cwd: folder,
      env: { ...process.env, FAULTS: 'short' },
      stdio: process.env.MUTANTS_SHOW ? 'inherit' : ['ignore', 'ignore', 'ignore', 'ipc'],
      // A group of its own, so that a test that never ends can be killed together with its parents.
      detached: true,
    })
    current = { child, config }
    return child
  }

  async function close(): Promise<void> {
    const child = current?.child
    current = undefined
    if (!child?.connected) return
    const timer = setTimeout(() => killGroup(child), closeMsMax)
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.disconnect()
    })
    clearTimeout(timer)
  }

  function kill(): void {
    if (current?.child.connected) killGroup(current.child)
    current = undefined
  }

  return {
    async run(request) {
      const isOfSetUp = request.changedFile !== undefined && setUpFiles.test(request.changedFile)
      if (isOfSetUp) await close()
      const config = request.file.endsWith('.fault.ts') ? 'vitest.faults.config.ts' : 'vitest.config.ts'
      const answer = await ask(await open(config), request, kill)
      if (isOfSetUp || !answer) await close()
      return new Map(answer ?? request.titles.map((title) => [title, 'broken']))
    },
    kill,
    close,
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

/** Undefined when the process ended, or had to be ended, before it answered. */
function ask(child: ChildProcess, request: TestRequest, kill: () => void): Promise<TestAnswer | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(kill, runMsMax)
    function end(answer?: TestAnswer): void {
      clearTimeout(timer)
      child.off('exit', onExit)
      child.off('message', onMessage)
      resolve(answer)
    }
    const onExit = () => end()
    const onMessage = (answer: unknown) => end(answer as TestAnswer)
    child.on('exit', onExit)
    child.on('message', onMessage)
    child.send(request)
  })
}
