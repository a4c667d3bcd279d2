import { randomUUID } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import type { DevnetOptions } from '@wagate/devnet/devnet-options'
import { freePort } from '@wagate/local-servers/free-port'
import { type GatewayClient, makeGatewayClient } from './gateway-client.ts'
import { makePhones, type Phones } from './load/phones.ts'
import { readLogs } from './read-logs.ts'
import { keptProcesses } from './run/kept-processes.ts'
import { bundledApps } from './servers/test-bundle.ts'
import { createTestDatabase, testRedisUrl } from './servers/test-database.ts'
import { unlimited } from './unlimited.ts'
import { until } from './until.ts'

/** A whole system on the simulated network, for tests that send single requests. */
export type TestSystem = {
  devnet: Devnet
  /** With the key of a new account, which may link a hundred devices. */
  gateway: GatewayClient
  /** With the key of the first ADMIN. */
  admin: GatewayClient
  phones: Phones
  /** Reaches Postgres directly, without the proxy of `proxyFor`. */
  database: Database
  /** A client with the key of a new account, which may link ten devices, unless told otherwise. */
  createAccount(devicesAllowed?: number): Promise<GatewayClient>
  /** The name of the live worker that owns the sender, as soon as there is one. */
  ownerOf(sender: string): Promise<string>
  /** Resolves when every shard has an owner and each worker its share of them. */
  untilShared(): Promise<unknown>
  /** The metrics of a process, as text. */
  metricsOf(name: string): Promise<string>
  /** What each process has logged since this system was opened, under the name of the process. */
  logs(): Map<string, string>
  /** Keeps an intact system without settings of its own for the next file. */
  close(): Promise<void>
}

type Environment = Record<string, string | undefined>

/** `environment` is for all processes, or a function of the process's name. It is added to `usual`. */
export type TestSystemOptions = Omit<DevnetOptions, 'environment'> & {
  environment?: Environment | ((name: string) => Environment)
  /** With a Postgres and a Redis of its own, for a test that stops or measures them. */
  ownServers?: boolean
}

const databaseOptions = { poolSize: 4, applicationName: 'test', statementTimeoutMs: 30_000 }
const ownersMs = { withinMs: 60_000, everyMs: 50 }

const usual = {
  ...unlimited,
  OUTBOX_POLL_MS: '500',
  ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
  LOG_LEVEL: 'debug',
}

type Running = { devnet: Devnet; metricsPorts: Map<string, number>; end(): Promise<void> }

/** Systems that no file of this process uses now, by their number of workers. */
const kept = new Map<number, Running>()

/**
 * A system with four shards and two workers, unless told otherwise. Files of one process that ask for nothing but a number of
 * workers use the same system, one after the other: a test must not rely on absolute figures of the simulator or of the
 * metrics, and each file needs its own phone numbers. A system with other options ends with its file.
 */
export async function openTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  const { workers = 2, ...own } = options
  const isShared = Object.keys(own).length === 0
  const running = (isShared && takeKept(workers)) || (await start(options))
  const { devnet, metricsPorts } = running
  const database = openDatabase(devnet.databaseUrl, databaseOptions)
  const logged = sizesOf(readLogs(devnet.dataFolder))
  const admin = makeGatewayClient(devnet)
  const createAccount = async (devicesAllowed = 10) => {
    const account = {
      email: `${randomUUID()}@example.com`,
      password: 'correct horse',
      devices_allowed: devicesAllowed,
    }
    const { body } = await admin.call('create-user', account)
    return makeGatewayClient({ ...devnet, adminKey: { apiKey: String(body.api_key), isNew: false } })
  }
  // A test does not expect a sender to change hands without a cause in the test.
  await untilShared(database, workers)
  let isOpen = true
  return {
    devnet,
    gateway: await createAccount(100),
    admin,
    phones: makePhones(devnet.simulator?.controlUrl ?? ''),
    database,
    createAccount,
    ownerOf: (sender) => ownerOf(database, sender),
    untilShared: () => untilShared(database, workers),
    async metricsOf(name) {
      const response = await fetch(`http://127.0.0.1:${metricsPorts.get(name)}/metrics`)
      return response.text()
    },
    logs: () => newLogs(devnet, logged),
    async close() {
      if (!isOpen) return
      isOpen = false
      await closeDatabase(database)
      if (isShared && (await isIntact(running, workers))) keep(workers, running)
      else await running.end()
    },
  }
}

async function start({
  environment = {},
  ownServers = false,
  ...given
}: TestSystemOptions): Promise<Running> {
  const environmentOf = typeof environment === 'function' ? environment : () => environment
  const options = { shards: 4, ...given }
  const names = ['api', ...namesOfWorkers(options.workers)]
  const metricsPorts = new Map(
    await Promise.all(names.map(async (name) => [name, await freePort()] as const)),
  )
  const servers = ownServers || given.databaseUrl || given.dataFolder ? undefined : await openServers(options)
  try {
    const devnet = await startDevnet({
      compiledIn: await bundledApps(),
      ...servers?.addresses,
      ...options,
      environment: (name) => ({
        ...usual,
        ...(metricsPorts.has(name) && { METRICS_PORT: String(metricsPorts.get(name)) }),
        ...environmentOf(name),
      }),
    })
    return {
      devnet,
      metricsPorts,
      async end() {
        await devnet.close()
        await servers?.drop()
      },
    }
  } catch (error) {
    await servers?.drop()
    throw error
  }
}

/** A database and a Redis database on the servers of this test run. */
async function openServers(options: { shards: number }) {
  const [database, redisUrl] = await Promise.all([createTestDatabase(options), testRedisUrl()])
  return { addresses: { databaseUrl: database.url, redisUrl }, drop: database.drop }
}

/** Whether everything runs that ran in the beginning, and is ready. */
async function isIntact({ devnet }: Running, workers: number): Promise<boolean> {
  const wanted = ['api', 'simulator', ...namesOfWorkers(workers)]
  if (wanted.sort().join() !== devnet.names().sort().join()) return false
  await makePhones(devnet.simulator?.controlUrl ?? '').clearFaults()
  return devnet.waitUntilReady().then(
    () => true,
    () => false,
  )
}

function namesOfWorkers(workers = 2): string[] {
  return Array.from({ length: workers }, (_, at) => `worker-${at + 1}`)
}

function keep(workers: number, running: Running): void {
  kept.set(workers, running)
  keptProcesses.set(workers, running.devnet.names().length)
}

function takeKept(workers: number): Running | undefined {
  const running = kept.get(workers)
  kept.delete(workers)
  keptProcesses.delete(workers)
  return running
}

function sizesOf(logs: Map<string, string>): Map<string, number> {
  return new Map([...logs].map(([name, text]) => [name, text.length]))
}

function newLogs({ dataFolder }: Devnet, before: Map<string, number>): Map<string, string> {
  return new Map([...readLogs(dataFolder)].map(([name, text]) => [name, text.slice(before.get(name) ?? 0)]))
}

function untilShared(database: Database, workers: number): Promise<unknown> {
  return until('each worker owns its share of the shards', ownersMs, async () => {
    const shares = await database.$client<{ owner: string | null; shards: number }[]>`
      SELECT workers.id AS owner, count(*)::int AS shards
      FROM shard_leases LEFT JOIN workers ON workers.id = owner AND workers.state = 'live'
      GROUP BY workers.id`
    const counts = shares.map(({ shards }) => shards)
    const areOwned = shares.length === workers && shares.every(({ owner }) => owner !== null)
    return areOwned && Math.max(...counts) - Math.min(...counts) <= 1
  })
}

function ownerOf(database: Database, sender: string): Promise<string> {
  return until(`${sender} has an owner`, ownersMs, async () => {
    const [row] = await database.$client<{ name: string }[]>`
      SELECT workers.name FROM devices
      JOIN shard_leases USING (shard) JOIN workers ON workers.id = shard_leases.owner AND workers.state = 'live'
      WHERE devices.sender = ${sender} AND devices.deleted_at IS NULL`
    return row?.name
  })
}
