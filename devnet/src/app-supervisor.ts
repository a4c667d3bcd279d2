import { setTimeout as delay } from 'node:timers/promises'
import { type AppProcess, type AppProcessOptions, type Ending, startAppProcess } from './app-process.ts'
import { followLog, lastLines } from './log-tail.ts'

export type SupervisorEvents = {
  onStarted(pid: number): void
  onEnded(pid: number): void
  /** One sentence for the person at the terminal. */
  report(text: string): void
}

export type Supervisor = {
  /** Starts it and returns at once. Throws when it already runs. */
  start(options: AppProcessOptions): AppProcess
  /** Waits for the end of one that was signaled to end; of no other. */
  untilEnded(name: string): Promise<void>
  find(name: string): AppProcess | undefined
  names(): string[]
  /** Asks it to drain and waits for its end; it stays down until it is started again. */
  stop(name: string): Promise<Ending | undefined>
  /** As `stop` for all, the simulator last; nothing is started from now on. */
  stopAll(): Promise<void>
  /** For faults. One that ends of it is not restarted, and not reported as a crash. */
  signal(name: string, signal: NodeJS.Signals): void
}

const restartDelayMs = { first: 1000, longest: 30_000 }
const healthyMs = 60_000

/** Keeps our processes running: one that ends unexpectedly is reported, and started again with `restart`. */
export function superviseApps(restart: boolean, events: SupervisorEvents): Supervisor {
  const running = new Map<string, AppProcess>()
  const wanted = new Set<string>()
  let isClosed = false

  function launch(options: AppProcessOptions, crashes: number): AppProcess {
    const app = startAppProcess(options)
    const startedAt = performance.now()
    running.set(app.name, app)
    events.onStarted(app.pid)
    const stopFollowing = followLog(app, problemReporter(app.name, events.report))
    void app.ended.then((ending) => {
      stopFollowing()
      events.onEnded(app.pid)
      running.delete(app.name)
      if (!wanted.has(app.name)) return
      events.report(
        `${app.name} ended unexpectedly (${describe(ending)}). Its last lines:\n${lastLines(app)}`,
      )
      if (!restart) return wanted.delete(app.name)
      void relaunch(options, performance.now() - startedAt > healthyMs ? 0 : crashes)
    })
    return app
  }

  async function relaunch(options: AppProcessOptions, crashes: number): Promise<void> {
    await delay(Math.min(restartDelayMs.first * 2 ** crashes, restartDelayMs.longest), undefined, {
      ref: false,
    })
    if (!wanted.has(options.name) || running.has(options.name)) return
    events.report(`Starting ${options.name} again`)
    launch(options, crashes + 1)
  }

  return {
    start(options) {
      if (isClosed) throw new Error(`Everything is being stopped: ${options.name} is not started`)
      if (running.has(options.name)) throw new Error(`${options.name} already runs`)
      wanted.add(options.name)
      return launch(options, 0)
    },
    async untilEnded(name) {
      if (!wanted.has(name)) await running.get(name)?.ended
    },
    find: (name) => running.get(name),
    names: () => [...running.keys()],
    async stop(name) {
      wanted.delete(name)
      return running.get(name)?.stop()
    },
    async stopAll() {
      const simulator = running.get('simulator')
      isClosed = true
      wanted.clear()
      await Promise.all([...running.values()].filter((app) => app !== simulator).map((app) => app.stop()))
      await simulator?.stop()
    },
    signal(name, signal) {
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') wanted.delete(name)
      running.get(name)?.signal(signal)
    },
  }
}

const errorLevel = 50
const repeatMs = 30_000

/** Passes on log lines of level error and above, and lines that are no log lines; each sentence once in a while. */
function problemReporter(name: string, report: (text: string) => void): (line: string) => void {
  const lastShown = new Map<string, number>()
  return (line) => {
    const text = problemIn(line)
    if (!text || performance.now() - (lastShown.get(text) ?? Number.NEGATIVE_INFINITY) < repeatMs) return
    lastShown.set(text, performance.now())
    report(`${name}: ${text}`)
  }
}

function problemIn(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined
  // With LOG_LEVEL=debug, parsing all lines costs more than all else that the launcher does.
  const [, level] = /^\{"level":(\d+),/.exec(line) ?? []
  if (level !== undefined && Number(level) < errorLevel) return undefined
  try {
    const { level, msg, err } = JSON.parse(line)
    if (!(level >= errorLevel)) return undefined
    return [msg, err?.message].filter(Boolean).join(': ')
  } catch {
    return undefined
  }
}

function describe({ code, signal }: Ending): string {
  return signal ? `signal ${signal}` : `exit code ${code}`
}
