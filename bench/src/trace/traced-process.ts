import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Offsets are those in the file: types are blanked out, and nothing moves. */
export type CalledFunction = { file: string; name: string; start: number; end: number }

/** A process with `probes/trace.mjs` in it. */
export type TracedProcess = {
  name: string
  startCounting(): Promise<void>
  /** The functions of the repository that ran since the call before. */
  takeCalled(): Promise<CalledFunction[]>
  watch(functions: CalledFunction[]): Promise<void>
  /** The watched functions in the order in which they were entered since the call before; ms of the monotonic clock. */
  takeEntered(): Promise<{ called: CalledFunction; ms: number }[]>
}

const probe = new URL('../probes/trace.mjs', import.meta.url).href

export function traceEnvironment(folder: string, name: string): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import ${probe}`, WAGATE_TRACE_SOCKET: socketOf(folder, name) }
}

export function openTracedProcess(folder: string, name: string): TracedProcess {
  const ask = (path: string, body?: unknown) => askOver(socketOf(folder, name), path, body)
  let watched: CalledFunction[] = []
  return {
    name,
    async startCounting() {
      await ask('/count')
    },
    takeCalled: async () => (await ask('/take-counts')) as CalledFunction[],
    async watch(functions) {
      watched = functions
      await ask('/watch', functions)
    },
    async takeEntered() {
      const entered = (await ask('/take-entered')) as { at: number; ms: number }[]
      return entered.flatMap(({ at, ms }) => (watched[at] ? [{ called: watched[at], ms }] : []))
    },
  }
}

function socketOf(folder: string, name: string): string {
  return join(folder, `${name}.sock`)
}

function askOver(socketPath: string, path: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, method: 'POST' }, async (response) => {
      const answer = await text(response)
      if (response.statusCode === 200) resolve(JSON.parse(answer))
      else reject(new Error(answer))
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
