import { closeDatabase, openDatabase } from '@wagate/db/client'
import { migrate } from '@wagate/db/migrate'
import { ensurePartitions } from '@wagate/db/queries/statements/partitions'
import { rights } from '@wagate/db/rights'
import { createRoles } from '@wagate/db/roles'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { until } from '@wagate/test-kit/until'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const passwords = { migrate: 'migrate-secret', api: "a'pi-secret", worker: 'worker-secret' }
const sender = '15550980001'
const recipient = '15550980002'
const other = '15550980003'
let devnet: Devnet
let preparing: Promise<void> | undefined

type Role = keyof typeof passwords

function urlOf(superuserUrl: string, role: Role): string {
  const url = new URL(superuserUrl)
  url.username = `wagate_${role}`
  url.password = encodeURIComponent(passwords[role])
  return url.href
}

/** As docker-compose.yml does it, but on a database that a superuser has migrated before. */
async function prepare(url: string): Promise<void> {
  for (const _ of ['once', 'again']) {
    await createRoles(url, passwords)
    await migrate(urlOf(url, 'migrate'), { shards: 4, network: 'simulator' })
  }
}

beforeAll(async () => {
  devnet = await startDevnet({
    compiledIn: await bundledApps(),
    shards: 4,
    workers: 1,
    environment: (name) => (name.startsWith('worker') ? { HOUSEKEEPING: 'false' } : {}),
    async proxyFor(name, url) {
      if (!url.startsWith('postgres')) return url
      preparing ??= prepare(url)
      await preparing
      return urlOf(url, name === 'api' ? 'api' : 'worker')
    },
  })
}, 120_000)
afterAll(() => devnet?.close())

async function as<Result>(role: Role, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(urlOf(devnet.databaseUrl, role), { max: 1, onnotice: () => undefined })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

test('the gateway works with a role for the API and one for the workers', async () => {
  const gateway = makeGatewayClient(devnet)
  await gateway.link(sender)
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const text = await gateway.call('send-message', {
    sender,
    number: recipient,
    message: 'under roles',
    idempotency_key: 'roles',
  })
  const image = await gateway.call('send-media', {
    sender,
    number: recipient,
    type: 'image',
    url: `data:image/png;base64,${png}`,
  })
  for (const { body } of [text, image]) {
    await gateway.untilMessage(body.message_id, 'is delivered', ({ status }) => status === 'delivered')
  }
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: 'an answer' })
  await until('the answer is here', async () =>
    (await gateway.history()).some(({ message }) => message === 'an answer'),
  )
  const later = await gateway.call('send-media', {
    sender,
    number: recipient,
    type: 'image',
    url: `data:image/png;base64,${png}`,
    send_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  for (const [operation, given] of [
    ['cancel-message', { message_id: later.body.message_id }],
    ['check-number', { sender, number: recipient }],
    ['set-device', { sender, rate_per_minute: 100 }],
    ['create-device', { sender: other }],
    ['set-device', { sender: other, proxy: 'http://proxy.example.com:8080' }],
    ['set-device', { sender: other, proxy: 'socks5://proxy.example.com:1080' }],
    ['set-device', { sender: other, proxy: 'none' }],
    ['create-user', { email: 'roles@example.com', password: 'long enough' }],
    ['create-key', { name: 'another' }],
    ['keys', {}],
    ['users', {}],
    ['user-info', {}],
    ['devices', {}],
    ['restart-session', { sender }],
    ['logout-device', { sender }],
    ['delete-device', { sender }],
  ] as const) {
    const reads = ['keys', 'users', 'user-info', 'devices'].includes(operation)
    const answer = reads ? await gateway.get(operation) : await gateway.call(operation, given)
    expect([operation, answer.status, answer.body]).toEqual([operation, 200, expect.anything()])
  }
  const ready = await fetch(`${devnet.apiUrl}/health/ready`)
  expect(await ready.json()).toMatchObject({ status: 'ready' })
}, 120_000)

const denied = { code: '42501' }

test.each([
  ['api', 'SELECT * FROM device_auth'],
  ['api', 'SELECT uploaded_content FROM messages'],
  ['api', 'SELECT bytes FROM media_blobs'],
  ['api', 'SELECT sealed FROM device_proxies'],
  ['api', 'DELETE FROM master_keys'],
  ['api', 'UPDATE master_keys SET proxy_public_key = NULL'],
  ['api', 'UPDATE workers SET state = state'],
  ['api', 'UPDATE shard_leases SET owner = NULL'],
  ['api', 'UPDATE installation SET shards = 1'],
  ['api', 'DELETE FROM accounts'],
  ['api', 'ALTER TABLE devices ADD COLUMN planted int'],
  ['api', 'DROP TRIGGER audit_log_keep ON audit_log'],
  ['api', 'UPDATE audit_log SET result = result'],
  ['api', 'DELETE FROM audit_log'],
  ['api', 'TRUNCATE audit_log'],
  ['api', 'CREATE TABLE planted (id int)'],
  ['api', 'CREATE TEMP TABLE devices (id int)'],
  ['api', "COPY (SELECT 1) TO PROGRAM 'true'"],
  ['worker', 'SELECT * FROM api_keys'],
  ['worker', 'SELECT password_hash FROM accounts'],
  ['worker', 'UPDATE accounts SET role = role'],
  ['worker', 'DELETE FROM audit_log'],
  ['worker', "INSERT INTO audit_log (operation, target, result) VALUES ('', '', '')"],
  ['worker', 'ALTER TABLE messages ADD COLUMN planted int'],
  ['worker', 'CREATE TABLE planted (id int)'],
  ['worker', "SELECT pg_read_file('/etc/passwd')"],
  ['migrate', "COPY (SELECT 1) TO PROGRAM 'true'"],
  ['migrate', 'CREATE ROLE planted SUPERUSER'],
] as const)('the role %s may not: %s', async (role, statement) => {
  await expect(as(role, (sql) => sql.unsafe(statement))).rejects.toMatchObject(denied)
})

test('the audit log is append-only for the API, and names resolve in one schema only', async () => {
  await as('api', async (sql) => {
    await sql`INSERT INTO audit_log (operation, target, result) VALUES ('test', 'account:1', 'done')`
    expect(await sql`SHOW search_path`).toEqual([{ search_path: 'public, pg_temp' }])
  })
})

test('the owner makes and drops partitions', async () => {
  const db = openDatabase(urlOf(devnet.databaseUrl, 'migrate'), {
    poolSize: 1,
    applicationName: 'test',
    statementTimeoutMs: 10_000,
  })
  try {
    const list = () => db.$client<{ name: string }[]>`
      SELECT relname AS name FROM pg_class JOIN pg_inherits ON inhrelid = oid
      WHERE inhparent = 'messages'::regclass ORDER BY relname`
    const before = await list()
    await db.$client.unsafe(`DROP TABLE ${before.at(-1)?.name}`)
    await ensurePartitions(db.$client)
    expect(await list()).toEqual(before)
  } finally {
    await closeDatabase(db)
  }
})

test('the rights of every role on every table are decided', async () => {
  const tables = await as(
    'migrate',
    (sql) => sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  )
  const names = tables.map(({ name }) => name).sort()
  expect(Object.keys(rights.api).sort()).toEqual(names)
  expect(Object.keys(rights.worker).sort()).toEqual(names)
})
