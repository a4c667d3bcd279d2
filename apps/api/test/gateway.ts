import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { claimShards, listUnownedShards } from '@wagate/db/queries/workers/shard-leases'
import { registerWorker } from '@wagate/db/queries/workers/workers'
import { makeCommandConsumers } from '@wagate/queue/command-consumers'
import { type DeviceEvents, makeDeviceEvents } from '@wagate/queue/device-events'
import { openRedisLinks } from '@wagate/queue/redis-links'
import type { Command } from '@wagate/shared/commands'
import { shardOf } from '@wagate/shared/shard'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { createTestDatabase, type TestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { readConfig } from '../src/config.ts'
import { bootstrapAdmin } from '../src/credentials/bootstrap-admin.ts'
import { startApi } from '../src/start.ts'

/** The API on its own database. The functions below play the worker. */
export type Gateway = {
  url: string
  db: Database
  databaseUrl: string
  redisUrl: string
  mediaFolder: string
  events: DeviceEvents
  admin: Client
  anonymous: Client
  /** A new account with its key. */
  createAccount(fields?: Record<string, unknown>): Promise<Client & { userId: number; apiKey: string }>
  close(): Promise<void>
}

/** Tests send many requests in a short time. */
const unlimited = {
  LIMIT_REQUESTS_PER_SECOND: '0',
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '0',
  LIMIT_FAILED_KEYS_PER_MINUTE: '0',
  LIMIT_NEW_USERS_PER_MINUTE: '0',
  LIMIT_QR_CODES_PER_MINUTE: '0',
  LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '0',
  LIMIT_ACCOUNT_PAIR_CODES_PER_DAY: '0',
  LIMIT_ACCOUNT_CHANGES_PER_DAY: '0',
  LIMIT_MAILS_PER_HOUR: '0',
  LIMIT_SIGN_INS_PER_MINUTE: '0',
}

/** Its connections to Postgres and Redis pass through proxies that tests may cut. */
export type CuttableGateway = Gateway & { postgres: TcpProxy; redis: TcpProxy }

export async function startGateway(env: Record<string, string> = {}): Promise<Gateway> {
  return openGateway(await createTestDatabase(), await testRedisUrl(), env)
}

export async function startCuttableGateway(
  env: Record<string, string> = {},
  ofPostgres: Parameters<typeof startTcpProxy>[1] = {},
): Promise<CuttableGateway> {
  const database = await createTestDatabase()
  const redisUrl = await testRedisUrl()
  const postgres = await startTcpProxy(database.url, ofPostgres)
  const redis = await startTcpProxy(redisUrl)
  const proxied = { DATABASE_URL: postgres.url, REDIS_URL: redis.url }
  const gateway = await openGateway(database, redisUrl, { ...proxied, ...env })
  return {
    ...gateway,
    postgres,
    redis,
    async close() {
      await gateway.close()
      await Promise.all([postgres.close(), redis.close()])
    },
  }
}

async function openGateway(
  database: TestDatabase,
  redisUrl: string,
  env: Record<string, string>,
): Promise<Gateway> {
  const bootstrapped = await bootstrapAdmin(database.url, 'admin@example.com')
  const ownFolder = join(tmpdir(), `wagate-media-${randomUUID()}`)
  const { MEDIA_FOLDER: mediaFolder = ownFolder } = env
  const urls = { DATABASE_URL: database.url, REDIS_URL: redisUrl }
  const api = await startApi(configOf({ ...urls, MEDIA_FOLDER: mediaFolder, ...env }))
  const db = openDatabase(database.url, {
    poolSize: 4,
    applicationName: 'test',
    statementTimeoutMs: 10_000,
  })
  const links = openRedisLinks(redisUrl, { onError: () => undefined })
  const admin = makeClient(api.url, bootstrapped?.apiKey)

  return {
    url: api.url,
    db,
    databaseUrl: database.url,
    redisUrl,
    mediaFolder,
    events: makeDeviceEvents(links),
    admin,
    anonymous: makeClient(api.url),
    async createAccount(fields = {}) {
      const { body } = await admin.post('/create-user', {
        email: `${randomUUID()}@example.com`,
        password: 'correct horse',
        devices_allowed: 10,
        ...fields,
      })
      const apiKey = String(body.api_key)
      return { ...makeClient(api.url, apiKey), userId: Number(body.user_id), apiKey }
    },
    async close() {
      await api.close()
      await Promise.all([links.close(), closeDatabase(db)])
      await database.drop()
      rmSync(ownFolder, { recursive: true, force: true })
    },
  }
}

/** Without it, a gateway of the live network makes no links. */
const publicUrl = 'https://gateway.example.com'

function configOf(env: Record<string, string>) {
  const defaults = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent', PUBLIC_URL: publicUrl, ...unlimited }
  return readConfig({ ...defaults, ...env })
}

/** A second API process on the same servers, without proxies in between. */
export async function startReplica(gateway: Gateway, env: Record<string, string> = {}) {
  const { databaseUrl, redisUrl, mediaFolder } = gateway
  return startApi(
    configOf({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, MEDIA_FOLDER: mediaFolder, ...env }),
  )
}

/** With a live worker, which the functions below play. */
export async function startGatewayWithOwner(env: Record<string, string> = {}): Promise<Gateway> {
  const gateway = await startGateway(env)
  await ownShards(gateway)
  return gateway
}

export type GatewayWithReplica = CuttableGateway & { replica: { url: string } }

/** With a second API process that has the same settings. */
export async function startGatewayWithReplica(env: Record<string, string> = {}): Promise<GatewayWithReplica> {
  const gateway = await startCuttableGateway(env)
  const replica = await startReplica(gateway, env)
  return {
    ...gateway,
    replica,
    async close() {
      await replica.close()
      await gateway.close()
    },
  }
}

/** A live worker that owns every shard. Returns its id. */
export async function ownShards({ db }: Gateway): Promise<string> {
  const id = randomUUID()
  await registerWorker(db, { id, name: id, capacity: 1000, leaseTtlMs: 3_600_000 })
  const shards = await listUnownedShards(db)
  await claimShards(
    db,
    id,
    shards.map(({ shard }) => shard),
  )
  return id
}

/** Acts as an owner after a scan. */
export async function linkDevice({ db }: Gateway, deviceId: number): Promise<void> {
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = link_generation + 1,
      pairing_until = NULL, connection = 'online', offline_since = NULL
    WHERE id = ${deviceId}`
}

/** Acts as an owner after a logout. */
export async function wipeDevice({ db }: Gateway, deviceId: number): Promise<void> {
  await db.$client`
    UPDATE devices SET has_credentials = false, connection = 'offline', offline_since = NULL
    WHERE id = ${deviceId}`
}

/** An account with a linked sender. */
export async function createSender(gateway: Gateway, fields: Record<string, unknown> = {}) {
  const account = await gateway.createAccount(fields)
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  const deviceId = Number(body.device_id)
  await linkDevice(gateway, deviceId)
  return { account, sender, deviceId }
}

export function randomPhone(): string {
  return `49151${Math.floor(1e7 + Math.random() * 9e7)}`
}

/** Records the kinds of commands that reach the owner of the device, and handles them with `handle`. */
export async function recordCommands(
  { redisUrl }: Gateway,
  deviceId: number,
  handle: (command: Command) => void = () => undefined,
) {
  const seen: string[] = []
  const note = async (command: Command) => {
    seen.push(command.kind)
    handle(command)
  }
  const redis = openRedisLinks(redisUrl, { onError: () => undefined })
  const consumers = makeCommandConsumers(redis, { startMsMax: 20_000 })
  await consumers.start({
    shard: shardOf(deviceId, 256),
    handlers: {
      send: note,
      'start-session': note,
      'end-session': note,
      'apply-settings': note,
      'check-number': note,
      'request-pairing-code': note,
      'submit-passkey': note,
      'confirm-passkey': note,
      'mark-read': note,
    },
    onError: () => undefined,
  })
  return {
    seen,
    async close() {
      await consumers.close()
      await redis.close()
    },
  }
}

/** The account's history, newest first. */
export async function storedOf(client: Client) {
  const { body } = await client.get('/messages')
  return body.messages as Record<string, unknown>[]
}
