import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findRedis } from './find-redis.ts'
import { isRunning } from './leftover.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import type { RedisProgram } from './redis-program.ts'
import type { ServerProcess } from './server-process.ts'
import type {
  FromSupervisor,
  ServerFacts,
  ServerName,
  SupervisorOptions,
  ToSupervisor,
} from './supervisor-messages.ts'

const drainMs = 17_000

type Running = { process: ServerProcess; stop(): Promise<void> }

const options: SupervisorOptions = JSON.parse(process.argv[2] ?? '{}')
const { folder, logFolder, vendorFolder, durable } = options
const running = new Map<ServerName, Running>()
const starting = new Set<Promise<unknown>>()
const watched = new Set<number>()
const abort = new AbortController()
let redisProgram: RedisProgram | undefined

// The channel closes when the parent process ends in any way, kill -9 included.
process.on('disconnect', () => void end())
process.on('SIGTERM', () => void end())
process.on('SIGINT', () => undefined)
process.on('SIGHUP', () => undefined)
process.on('message', (message: ToSupervisor) => void obey(message))
// It may have closed while this file was being loaded.
if (!process.connected) await end()

try {
  const [postgres, redis] = await Promise.all([
    options.postgres ? track(launch('postgres')) : undefined,
    options.redis ? track(launch('redis')) : undefined,
  ])
  tell({ kind: 'ready', ...(postgres && { postgres }), ...(redis && { redis }) })
} catch (error) {
  tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  await end()
}

async function launch(server: ServerName): Promise<ServerFacts> {
  const logFile = join(logFolder, `${server}.log`)
  const at = { folder: join(folder, server), logFile, durable }
  if (server === 'postgres') {
    const postgres = await startPostgres({ ...at, signal: abort.signal })
    return register(server, postgres, {
      url: postgres.url,
      about: `PostgreSQL 18, data in ${postgres.folder}`,
    })
  }
  redisProgram ??= await findRedis({
    vendorFolder,
    report: (text) => tell({ kind: 'progress', text }),
    signal: abort.signal,
  })
  const redis = await startRedis({ ...at, program: redisProgram })
  return register(server, redis, { url: redis.url, about: redis.source })
}

function register(server: ServerName, started: Running, facts: Omit<ServerFacts, 'pid'>): ServerFacts {
  running.set(server, started)
  void started.process.exited.then(() => {
    running.delete(server)
    if (!abort.signal.aborted) tell({ kind: 'ended', server })
  })
  return { ...facts, pid: started.process.pid }
}

async function obey(message: ToSupervisor): Promise<void> {
  if (message.kind === 'watch') watched.add(message.pid)
  if (message.kind === 'forget') watched.delete(message.pid)
  if (message.kind !== 'start' || running.has(message.server)) return
  try {
    tell({ kind: 'started', server: message.server, facts: await track(launch(message.server)) })
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}

function track<T>(work: Promise<T>): Promise<T> {
  starting.add(work)
  return work.finally(() => starting.delete(work))
}

async function end(): Promise<void> {
  if (abort.signal.aborted) return
  abort.abort()
  await waitForWatched()
  await Promise.allSettled(starting)
  await Promise.all([...running.values()].map((server) => server.stop()))
  if (!durable) rmSync(folder, { recursive: true, force: true })
  process.exit()
}

/** They end themselves when the launcher dies; one that hangs or is stopped is killed. */
async function waitForWatched(): Promise<void> {
  for (let waitedMs = 0; waitedMs < drainMs && [...watched].some(isRunning); waitedMs += 20) await delay(20)
  for (const pid of watched) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
}

function tell(message: FromSupervisor): void {
  if (process.connected) process.send?.(message, () => undefined)
}
