import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askRedis } from './ask-redis.ts'
import { freePort } from './free-port.ts'
import { endLeftover } from './leftover.ts'
import type { RedisProgram } from './redis-program.ts'
import { type ServerProcess, spawnServer, waitUntilReady } from './server-process.ts'

export type RedisOptions = {
  folder: string
  logFile: string
  /** False for data that is thrown away. */
  durable: boolean
  program: RedisProgram
}

export type Redis = { url: string; source: string; process: ServerProcess; stop(): Promise<void> }

/** A private Redis on a free loopback port, with the settings that BullMQ needs to lose nothing. */
export async function startRedis({ folder, logFile, durable, program }: RedisOptions): Promise<Redis> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const location = realpathSync(folder)
  const portFile = join(location, 'port')
  const lastPort = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : 0
  await endLeftoverRedis(location, lastPort)

  const port = await freePort(lastPort)
  const password = program.keepsData ? readPassword(join(location, 'password')) : ''
  writeFileSync(join(location, 'redis.conf'), configuration(port, password, durable), { mode: 0o600 })
  writeFileSync(portFile, String(port))
  const { command, args, env } = program.command({ folder: location, port })
  const server = await spawnServer(command, args, logFile, { cwd: location, env })
  const url = `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`
  await waitUntilReady(server, 'Redis', logFile, () => takesCommands(url))
  return {
    url,
    source: program.source,
    process: server,
    stop: () => server.stop(durable ? 'SIGTERM' : 'SIGKILL'),
  }
}

/** Stays the same, so that clients find a server that was started again. */
function readPassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('base64url'), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}

function configuration(port: number, password: string, durable: boolean): string {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    ...(password ? [`requirepass ${password}`] : []),
    'databases 256',
    'maxmemory-policy noeviction',
    'save ""',
    `appendonly ${durable ? 'yes' : 'no'}`,
    'appendfsync everysec',
    'pidfile redis.pid',
  ]
  return `${lines.join('\n')}\n`
}

/** A second Redis on the same append-only file would corrupt it. */
async function endLeftoverRedis(folder: string, port: number): Promise<void> {
  const pidFile = join(folder, 'redis.pid')
  if (!existsSync(pidFile) || port === 0) return
  await endLeftover(Number(readFileSync(pidFile, 'utf8')), `127.0.0.1:${port}`, 'SIGTERM')
}

/** While it reads its file it answers LOADING. */
async function takesCommands(url: string): Promise<boolean> {
  const lines = await askRedis(new URL(url), [['PING']]).catch(() => [])
  return lines[0] === '+PONG'
}
