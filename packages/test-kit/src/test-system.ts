import { randomUUID } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import type { DevnetOptions } from '@wagate/devnet/devnet-options'
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
  /** A client with the key of a new account, which may link ten devices. */
  createAccount(): Promise<GatewayClient>
  /** The name of the live worker that owns the sender, as soon as there is one. */
  ownerOf(sender: string): Promise<string>
  /** What each process has logged since this system was opened, under the name of the process. */
  logs(): Map<string, string>
  /** Keeps an intact system for the next file that asks for the same settings. */
  close(): Promise<void>
}

type Environment = Record<string, string | undefined>

/** `environment` is for all processes, or a function of the process's name. It is added to `unlimited`. */
export type TestSystemOptions = Omit<DevnetOptions, 'environment'> & {
  environment?: Environment | ((name: string) => Environment)
  /** With a Postgres and a Redis of its own, for a test that stops or measures them. */
  ownServers?: boolean
}

const databaseOptions = { poolSize: 4, applicationName: 'test', statementTimeoutMs: 30_000 }
const ownerMs = { withinMs: 60_000, everyMs: 50 }
const keptMax = 2

type Running = { devnet: Devnet; end(): Promise<void> }

/** Systems that no file of this process uses now, by their settings. The oldest comes first. */
const kept = new Map<string, Running>()

/**
 * A system with four shards and two workers, unless told otherwise. Files of one process that ask for the same settings
 * use the same system, one after the other: a test must not rely on absolute figures of the simulator, and each file needs its
 * own phone numbers. A system with functions as options, a data folder or its own servers is never shared.
 */
export async function openTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  const key = settingsOf(options)
  const running = (key && kept.get(key)) || (await start(options))
  if (key) forget(key)
  const { devnet } = running
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
  let isOpen = true
  return {
    devnet,
    gateway: await createAccount(100),
    admin,
    phones: makePhones(devnet.simulator?.controlUrl ?? ''),
    database,
    createAccount,
    ownerOf: (sender) => ownerOf(database, sender),
    logs: () => newLogs(devnet, logged),
    async close() {
      if (!isOpen) return
      isOpen = false
      await closeDatabase(database)
      if (key && (await isIntact(running, options))) await keep(key, running)
      else await running.end()
    },
  }
}

/** Undefined for a system that cannot be shared. */
function settingsOf(options: TestSystemOptions): string | undefined {
  const { ownServers, dataFolder, ...settings } = options
  if (ownServers || dataFolder || Object.values(settings).some((value) => typeof value === 'function'))
    return undefined
  return JSON.stringify(Object.entries(settings).sort())
}

async function start({
  environment = {},
  ownServers = false,
  ...given
}: TestSystemOptions): Promise<Running> {
  const environmentOf = typeof environment === 'function' ? environment : () => environment
  const options = { shards: 4, ...given }
  const servers = ownServers || given.databaseUrl || given.dataFolder ? undefined : await openServers(options)
  try {
    const devnet = await startDevnet({
      compiledIn: await bundledApps(),
      ...servers?.addresses,
      ...options,
      environment: (name) => ({ ...unlimited, ...environmentOf(name) }),
    })
    return {
      devnet,
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
async function isIntact({ devnet }: Running, { workers = 2 }: TestSystemOptions): Promise<boolean> {
  const wanted = ['api', 'simulator', ...Array.from({ length: workers }, (_, at) => `worker-${at + 1}`)]
  if (wanted.sort().join() !== devnet.names().sort().join()) return false
  await makePhones(devnet.simulator?.controlUrl ?? '').clearFaults()
  return devnet.waitUntilReady().then(
    () => true,
    () => false,
  )
}

async function keep(key: string, running: Running): Promise<void> {
  const [oldest] = kept
  if (oldest && kept.size === keptMax) {
    forget(oldest[0])
    await oldest[1].end()
  }
  kept.set(key, running)
  keptProcesses.set(key, running.devnet.names().length)
}

function forget(key: string): void {
  kept.delete(key)
  keptProcesses.delete(key)
}

function sizesOf(logs: Map<string, string>): Map<string, number> {
  return new Map([...logs].map(([name, text]) => [name, text.length]))
}

function newLogs({ dataFolder }: Devnet, before: Map<string, number>): Map<string, string> {
  return new Map([...readLogs(dataFolder)].map(([name, text]) => [name, text.slice(before.get(name) ?? 0)]))
}

function ownerOf(database: Database, sender: string): Promise<string> {
  return until(`${sender} has an owner`, ownerMs, async () => {
    const [row] = await database.$client<{ name: string }[]>`
      SELECT workers.name FROM devices
      JOIN shard_leases USING (shard) JOIN workers ON workers.id = shard_leases.owner AND workers.state = 'live'
      WHERE devices.sender = ${sender} AND devices.deleted_at IS NULL`
    return row?.name
  })
}
