import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export type ServerProcess = {
  pid: number
  /** Resolves when the process has ended, for any reason. */
  exited: Promise<void>
  hasExited(): boolean
  signal(signal: NodeJS.Signals): void
  /** Asks with the signal, insists with SIGKILL after 10 seconds. Safe to call twice. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/** Starts a server in its own session, its output appended to the log file. */
export async function spawnServer(
  command: string,
  args: string[],
  logFile: string,
  options: SpawnOptions,
): Promise<ServerProcess> {
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  const pid = await spawned(child)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid,
    exited,
    hasExited,
    signal: (signal) => void child.kill(signal),
    async stop(signal) {
      if (hasExited()) return
      child.kill(signal)
      child.kill('SIGCONT')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(timer)
    },
  }
}

/** Resolves as soon as the check says so; throws with the end of the log when the server exits before. */
export async function waitUntilReady(
  server: ServerProcess,
  name: string,
  logFile: string,
  isReady: () => boolean | Promise<boolean>,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 10) {
    if (await isReady()) return
    if (server.hasExited()) throw new Error(`${name} ended while starting:\n${lastLines(logFile)}`)
    await delay(10)
  }
  throw new Error(`${name} was not ready within a minute:\n${lastLines(logFile)}`)
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => resolve(child.pid ?? 0))
  })
}
