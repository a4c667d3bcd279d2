import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endLeftover } from './leftover.ts'
import type {
  FromSupervisor,
  ServerFacts,
  ServerName,
  SupervisorOptions,
  ToSupervisor,
} from './supervisor-messages.ts'

export type ServerSupervisor = {
  pid: number
  postgres: ServerFacts | undefined
  redis: ServerFacts | undefined
  /** Stops one server and waits for its end. */
  stop(server: ServerName): Promise<void>
  /** Starts a server that has ended again, on the same data and port. */
  start(server: ServerName): Promise<void>
  tell(message: ToSupervisor): void
  /** Stops the servers. Safe to call twice. */
  close(): Promise<void>
}

export type SupervisorEvents = {
  onProgress?(text: string): void
  /** A server ended before the supervisor was closed. */
  onServerEnded?(server: ServerName): void
  /** The supervisor process ended before it was closed. */
  onSupervisorEnded?(): void
}

const typescript = new URL('../../../scripts/typescript.mjs', import.meta.url).href
const program = fileURLToPath(new URL('./supervisor-main.ts', import.meta.url))

/**
 * Starts the process that owns Postgres and Redis, and waits until both are ready. It stops them when this
 * process ends, for any reason.
 */
export async function startServerSupervisor(
  options: SupervisorOptions,
  events: SupervisorEvents = {},
  signal?: AbortSignal,
): Promise<ServerSupervisor> {
  mkdirSync(options.logFolder, { recursive: true, mode: 0o700 })
  const child = forkSupervisor(options)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let isClosing = false

  async function close(): Promise<void> {
    isClosing = true
    // A process that has nothing else to do would end before the promise resolves.
    child.ref()
    if (child.connected) child.disconnect()
    await exited
    await endOrphans(supervisor)
  }

  const supervisor: ServerSupervisor = {
    pid: child.pid ?? 0,
    postgres: undefined,
    redis: undefined,
    close,
    tell(message) {
      if (child.connected) child.send(message, () => undefined)
    },
    async start(server) {
      const started = waitFor(child, 'started')
      supervisor.tell({ kind: 'start', server })
      supervisor[server] = (await started).facts
    },
    async stop(server) {
      const facts = supervisor[server]
      if (!facts) return
      const ended = waitFor(child, 'ended')
      process.kill(facts.pid, server === 'postgres' ? 'SIGINT' : 'SIGTERM')
      await ended
    },
  }

  const onAbort = () => void close()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const ready = await waitFor(child, 'ready', (text) => events.onProgress?.(text))
    supervisor.postgres = ready.postgres
    supervisor.redis = ready.redis
  } catch (error) {
    await close()
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  void exited.then(() => {
    if (!isClosing) events.onSupervisorEnded?.()
  })
  child.on('message', (message: FromSupervisor) => {
    if (message.kind === 'ended' && !isClosing) events.onServerEnded?.(message.server)
  })
  child.unref()
  child.channel?.unref()

  return supervisor
}

/** The servers of a supervisor that was killed still run. */
async function endOrphans({ postgres, redis }: ServerSupervisor): Promise<void> {
  await Promise.all([
    postgres && endLeftover(postgres.pid, 'postgres', 'SIGINT'),
    redis && endLeftover(redis.pid, `127.0.0.1:${new URL(redis.url).port}`, 'SIGTERM'),
  ])
}

function forkSupervisor(options: SupervisorOptions): ChildProcess {
  const log = openSync(join(options.logFolder, 'supervisor.log'), 'a', 0o600)
  const child = fork(program, [JSON.stringify(options)], {
    cwd: '/',
    detached: true,
    execArgv: ['--import', typescript, '--conditions=source'],
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return child
}

type OfKind<K> = Extract<FromSupervisor, { kind: K }>

function waitFor<K extends 'ready' | 'started' | 'ended'>(
  child: ChildProcess,
  kind: K,
  onProgress?: (text: string) => void,
): Promise<OfKind<K>> {
  return new Promise((resolve, reject) => {
    const onExit = () =>
      finish(() => reject(new Error('The supervisor of Postgres and Redis ended: see supervisor.log')))
    const onMessage = (message: FromSupervisor) => {
      if (message.kind === 'progress') onProgress?.(message.text)
      if (message.kind === 'failed') finish(() => reject(new Error(message.reason)))
      if (isOfKind(message, kind)) finish(() => resolve(message))
    }
    const finish = (settle: () => void) => {
      child.off('message', onMessage).off('exit', onExit)
      settle()
    }
    child.on('message', onMessage).on('exit', onExit)
  })
}

function isOfKind<K extends FromSupervisor['kind']>(message: FromSupervisor, kind: K): message is OfKind<K> {
  return message.kind === kind
}
