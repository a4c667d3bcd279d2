import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { join, resolve as resolvePath } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export type AppProcessOptions = {
  name: string
  /** The program and what must be loaded before it, relative to the repository. */
  entry: string
  preload?: string
  /** They are JavaScript, as in the image. Otherwise they are source. */
  isCompiled?: boolean
  nodeOptions?: string[]
  args?: string[]
  env: NodeJS.ProcessEnv
  /** A part of the program that is loaded while the rest of its environment is not known yet. */
  ahead?: { load: string; env: Promise<NodeJS.ProcessEnv> }
  logFolder: string
}

export type Ending = { code: number | null; signal: NodeJS.Signals | null }

export type AppProcess = {
  name: string
  pid: number
  logFile: string
  /** Where in the log file this process' own lines begin. */
  logOffset: number
  ended: Promise<Ending>
  hasEnded(): boolean
  signal(signal: NodeJS.Signals): void
  /** SIGTERM, and SIGKILL for its whole group when it has not drained in time. */
  stop(): Promise<Ending>
}

export const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Makes Node run TypeScript; loaded before everything else. */
export const typescript = new URL('../../scripts/typescript.mjs', import.meta.url).href
const guard = new URL('./end-with-launcher.mjs', import.meta.url).href
const loadAhead = new URL('./load-ahead.mjs', import.meta.url).href
const drainMs = 16_000
const logBytesMax = 10_000_000

/** Starts one of our programs in its own process group: Ctrl-C must not reach it. */
export function startAppProcess(options: AppProcessOptions): AppProcess {
  const { name, entry, preload, isCompiled, nodeOptions = [], args = [], env, ahead } = options
  const imports = [
    ...(isCompiled ? [] : [typescript]),
    guard,
    ...(preload ? [urlOf(preload)] : []),
    ...(ahead ? [loadAhead] : []),
  ]
  const logFile = prepareLog(options.logFolder, name)
  const log = openSync(logFile, 'a', 0o600)
  const logOffset = statSync(logFile).size
  const child = spawn(
    process.execPath,
    [
      ...imports.flatMap((file) => ['--import', file]),
      ...(isCompiled ? [] : ['--conditions=source']),
      ...nodeOptions,
      resolvePath(repository, entry),
      ...args,
    ],
    {
      cwd: repository,
      env: ahead ? { ...env, DEVNET_LOAD_AHEAD: urlOf(ahead.load) } : env,
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    },
  )
  closeSync(log)
  // Without its environment it is stopped with all others.
  ahead?.env.then(
    (rest) => child.connected && child.send(rest, () => undefined),
    () => undefined,
  )
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', () => resolve({ code: 1, signal: null }))
  })
  const pid = child.pid ?? 0
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null || pid === 0
  return {
    name,
    pid,
    logFile,
    logOffset,
    ended,
    hasEnded,
    signal: (signal) => void child.kill(signal),
    async stop() {
      if (!hasEnded()) {
        child.kill('SIGTERM')
        // One that a test has stopped could not end.
        child.kill('SIGCONT')
      }
      const timer = setTimeout(() => killGroup(pid), drainMs)
      const ending = await ended
      clearTimeout(timer)
      return ending
    },
  }
}

function urlOf(file: string): string {
  return pathToFileURL(resolvePath(repository, file)).href
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

function prepareLog(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${name}.log`)
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > logBytesMax) renameSync(file, `${file}.1`)
  return file
}
