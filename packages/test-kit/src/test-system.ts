import { randomUUID } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import type { DevnetOptions } from '@wagate/devnet/devnet-options'
import { type GatewayClient, makeGatewayClient } from './gateway-client.ts'
import { makePhones, type Phones } from './load/phones.ts'
import { readLogs } from './read-logs.ts'
import { unlimited } from './unlimited.ts'
import { until } from './until.ts'

/** A whole system on the simulated network, for tests that send single requests. */
export type TestSystem = {
  devnet: Devnet
  /** With the key of the first ADMIN. */
  gateway: GatewayClient
  phones: Phones
  /** Reaches Postgres directly, without the proxy of `proxyFor`. */
  database: Database
  /** A client with the key of a new account, which may link ten devices. */
  createAccount(): Promise<GatewayClient>
  /** The name of the live worker that owns the sender, as soon as there is one. */
  ownerOf(sender: string): Promise<string>
  /** What each process has logged, under the name of the process. */
  logs(): Map<string, string>
  close(): Promise<void>
}

type Environment = Record<string, string | undefined>

/** `environment` is for all processes, or a function of the process's name. It is added to `unlimited`. */
export type TestSystemOptions = Omit<DevnetOptions, 'environment'> & {
  environment?: Environment | ((name: string) => Environment)
}

const options = { poolSize: 4, applicationName: 'test', statementTimeoutMs: 30_000 }
const ownerMs = { withinMs: 60_000, everyMs: 50 }

/** Starts a system with four shards and two workers, unless told otherwise. Every file has its own. */
export async function openTestSystem(given: TestSystemOptions = {}): Promise<TestSystem> {
  const { environment = {} } = given
  const settingsOf = typeof environment === 'function' ? environment : () => environment
  const devnet = await startDevnet({
    shards: 4,
    ...given,
    environment: (name) => ({ ...unlimited, ...settingsOf(name) }),
  })
  const database = openDatabase(devnet.databaseUrl, options)
  const gateway = makeGatewayClient(devnet)
  return {
    devnet,
    gateway,
    phones: makePhones(devnet.simulator?.controlUrl ?? ''),
    database,
    async createAccount() {
      const account = { email: `${randomUUID()}@example.com`, password: 'correct horse', devices_allowed: 10 }
      const { body } = await gateway.call('create-user', account)
      return makeGatewayClient({ ...devnet, adminKey: { apiKey: String(body.api_key), isNew: false } })
    },
    ownerOf: (sender) => ownerOf(database, sender),
    logs: () => readLogs(devnet.dataFolder),
    async close() {
      await closeDatabase(database)
      await devnet.close()
    },
  }
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
