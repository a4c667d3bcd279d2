import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FromKeeper, KeeperOptions, ServerFacts, ServerName, ToKeeper } from './keeper-messages.ts'
import { endLeftover } from './leftover.ts'

export type Keeper = {
  pid: number
  postgres: ServerFacts | undefined
  redis: ServerFacts | undefined
  /** Stops one server and waits for its end. */
  stop(server: ServerName): Promise<void>
  /** Starts a server that has ended again, on the same data and port. */
  start(server: ServerName): Promise<void>
  tell(message: ToKeeper): void
  /** Stops the servers. Safe to call twice. */
  close(): Promise<void>
}

export type KeeperEvents = {
  onProgress?(text: string): void
  /** A server ended although nobody closed the keeper. */
  onServerEnded?(server: ServerName): void
  /** The keeper itself ended although nobody closed it. */
  onKeeperEnded?(): void
}

const typescript = new URL('../typescript.mjs', import.meta.url).href
const program = fileURLToPath(new URL('./keeper-main.ts', import.meta.url))

/**
 * Starts the process that owns Postgres and Redis, and waits until both are ready. It stops them when this
 * process ends, whatever the reason.
 */
export async function startKeeper(
  options: KeeperOptions,
  events: KeeperEvents = {},
  signal?: AbortSignal,
): Promise<Keeper> {
  mkdirSync(options.logFolder, { recursive: true, mode: 0o700 })
  const child = forkKeeper(options)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let isClosing = false

  async function close(): Promise<void> {
    isClosing = true
    if (child.connected) child.disconnect()
    await exited
    await endOrphans(keeper)
  }

  const keeper: Keeper = {
    pid: child.pid ?? 0,
    postgres: undefined,
    redis: undefined,
    close,
    tell(message) {
      if (child.connected) child.send(message, () => undefined)
    },
    async start(server) {
      const started = waitFor(child, 'started')
      keeper.tell({ kind: 'start', server })
      keeper[server] = (await started).facts
    },
    async stop(server) {
      const facts = keeper[server]
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
    keeper.postgres = ready.postgres
    keeper.redis = ready.redis
  } catch (error) {
    await close()
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  void exited.then(() => {
    if (!isClosing) events.onKeeperEnded?.()
  })
  child.on('message', (message: FromKeeper) => {
    if (message.kind === 'ended' && !isClosing) events.onServerEnded?.(message.server)
  })
  child.unref()
  child.channel?.unref()

  return keeper
}

/** The servers of a keeper that was killed still run. */
async function endOrphans({ postgres, redis }: Keeper): Promise<void> {
  await Promise.all([
    postgres && endLeftover(postgres.pid, 'postgres', 'SIGINT'),
    redis && endLeftover(redis.pid, `127.0.0.1:${new URL(redis.url).port}`, 'SIGTERM'),
  ])
}

function forkKeeper(options: KeeperOptions): ChildProcess {
  const log = openSync(join(options.logFolder, 'keeper.log'), 'a', 0o600)
  const child = fork(program, [JSON.stringify(options)], {
    cwd: '/',
    detached: true,
    execArgv: ['--import', typescript, '--conditions=source'],
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return child
}

type OfKind<K> = Extract<FromKeeper, { kind: K }>

function waitFor<K extends 'ready' | 'started' | 'ended'>(
  child: ChildProcess,
  kind: K,
  onProgress?: (text: string) => void,
): Promise<OfKind<K>> {
  return new Promise((resolve, reject) => {
    const onExit = () =>
      finish(() => reject(new Error('The keeper of Postgres and Redis ended: see keeper.log')))
    const onMessage = (message: FromKeeper) => {
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

function isOfKind<K extends FromKeeper['kind']>(message: FromKeeper, kind: K): message is OfKind<K> {
  return message.kind === kind
}
