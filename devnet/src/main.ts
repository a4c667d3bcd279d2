import { resolve } from 'node:path'
import { loadEnvFile } from '../../scripts/env-file.mjs'
import { readStartArguments } from '../../scripts/start-arguments.mjs'
import { repository } from './app-process.ts'
import { type Devnet, startDevnet } from './devnet.ts'
import { summarize } from './summary.ts'

// A second signal this long after the first means "at once"; one Ctrl-C may reach us several times, through npm.
const sameSignalMs = 800

const args = readStartArguments(process.argv.slice(2))
const fromEnvFile = loadEnvFile()

const startedAt = performance.now()
const stopping = new AbortController()
let stoppingSince = 0
let devnet: Devnet | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
// The launcher was killed, perhaps while this file was being loaded.
process.on('disconnect', stop)
if (process.send && !process.connected) process.exit(1)
// The terminal may be gone before we are.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  devnet = await startDevnet({
    dataFolder: resolve(process.env.INIT_CWD ?? repository, args.data),
    ...(process.env.DATABASE_URL && { databaseUrl: process.env.DATABASE_URL }),
    ...(process.env.REDIS_URL && { redisUrl: process.env.REDIS_URL }),
    ...(process.env.SHARDS && { shards: Number(process.env.SHARDS) }),
    network: args.live ? 'live' : 'simulator',
    workers: args.workers,
    apiPort: args.port,
    simulatorPort: args.simulatorPort,
    restart: true,
    report: (text) => console.error(text),
    onBroken: breakDown,
    signal: stopping.signal,
  })
  if (stopping.signal.aborted) await devnet.close()
  else await greet(devnet)
} catch (error) {
  if (!stopping.signal.aborted) fail(error)
}
if (stopping.signal.aborted) leave()

async function greet(ready: Devnet): Promise<void> {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `\n${summarize(ready, { isKeyAccepted: await isAccepted(ready), fromEnvFile })}\n\n(ready after ${seconds} s)`,
  )
}

/** The kept key may belong to another database than the one that DATABASE_URL names today. */
async function isAccepted({ apiUrl, adminKey }: Devnet): Promise<boolean> {
  if (!adminKey.apiKey) return false
  const response = await fetch(`${apiUrl}/user-info`, { headers: { 'x-api-key': adminKey.apiKey } })
  return response.ok
}

function stop(): void {
  if (stopping.signal.aborted) {
    if (performance.now() - stoppingSince > sameSignalMs) killAll()
    return
  }
  stoppingSince = performance.now()
  console.error('\nStopping. Press Ctrl-C again to stop without waiting for messages in flight.')
  stopping.abort(new Error('stopped'))
  void devnet?.close().then(leave)
}

function killAll(): void {
  for (const name of devnet?.names() ?? []) devnet?.signal(name, 'SIGKILL')
}

function breakDown(reason: string): void {
  if (stopping.signal.aborted) return
  console.error(`${reason} Stopping everything; start it again with "npm start".`)
  process.exitCode = 1
  stop()
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
  leave()
}

/** The channel to the launcher is all that still keeps this process. */
function leave(): void {
  process.off('disconnect', stop)
  if (process.connected) process.disconnect()
}
