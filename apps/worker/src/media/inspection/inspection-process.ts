import { fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type InspectionRequest, inspectionAnswer, type MediaFacts } from './media-facts.ts'
import { ownUrl } from './own-url.ts'

export type InspectionProcess = {
  hasEnded(): boolean
  /** Inspects one file at a time. */
  ask(request: InspectionRequest, timeoutMs: number): Promise<InspectionAnswer>
  close(): Promise<void>
}

/** Null for a damaged file. `ended`: by the file or from outside. `timed_out`: killed because it took too long. */
export type InspectionAnswer = MediaFacts | null | 'ended' | 'timed_out'

const startMsMax = 15_000

export async function startInspectionProcess(nodeOptions = sourceOptions()): Promise<InspectionProcess> {
  const child = fork(ownUrl(import.meta.url, 'inspection-main'), {
    execArgv: ['--v8-pool-size=1', ...nodeOptions],
    // Pass no keys or addresses: a malicious file may take over this process.
    env: { UV_THREADPOOL_SIZE: '2' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  yieldToOthers(child.pid)
  const ended = new Promise<undefined>((resolve) => {
    child.once('exit', () => resolve(undefined))
    child.once('error', () => resolve(undefined))
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined

  /** Undefined when there was none. */
  async function answerWithin(ms: number): Promise<unknown> {
    const waiting = new AbortController()
    const { signal } = waiting
    const answer = once(child, 'message', { signal }).then(([message]) => message as unknown)
    const end = once(child, 'exit', { signal }).then(() => undefined)
    const ends = [answer, end, delay(ms, undefined, { signal })].map((one) => one.catch(() => undefined))
    try {
      return hasEnded() ? undefined : await Promise.race(ends)
    } finally {
      waiting.abort()
    }
  }

  async function end(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }

  if (!(await answerWithin(startMsMax))) {
    await end()
    throw new Error('The process that inspects media did not start')
  }
  return {
    hasEnded,
    close: end,
    async ask(request, timeoutMs) {
      child.send(request, () => undefined)
      const answer = await answerWithin(timeoutMs)
      if (answer !== undefined) return inspectionAnswer.parse(answer)
      const failure = hasEnded() ? 'ended' : 'timed_out'
      await end()
      return failure
    },
  }
}

/** Lower priority: on a busy machine, files are inspected with the CPU time that the senders' sockets leave. */
function yieldToOthers(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already, or the system does not allow it.
  }
}

/** The options by which this process runs TypeScript, if it does. The built worker needs none. */
function sourceOptions(): string[] {
  if (!import.meta.url.endsWith('.ts')) return []
  return process.execArgv.flatMap((option, at, all) => {
    if (option.startsWith('--conditions')) return [option]
    return all[at - 1] === '--import' && option.includes('typescript') ? ['--import', option] : []
  })
}
