import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { createTestDatabase, type TestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bootstrapAdmin, deliverKey } from '../src/credentials/bootstrap-admin.ts'
import { listening, spawnApi } from './api-process.ts'

// Processes from source take seconds to start beside other tests.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

type Spawned = ReturnType<typeof spawnApi>

let database: TestDatabase
let db: Database
let env: Record<string, string>
/** Two processes that started concurrently on an empty database. */
let processes: Spawned[]
let adminKey: string

const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
const keyFile = join(folder, 'admin-key')

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 20_000 })
  env = {
    DATABASE_URL: database.url,
    REDIS_URL: await testRedisUrl(),
    BOOTSTRAP_ADMIN_EMAIL: 'first@example.com',
    BOOTSTRAP_KEY_FILE: keyFile,
    LIMIT_REQUESTS_PER_SECOND: '0',
    LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '0',
    LIMIT_NEW_USERS_PER_MINUTE: '0',
  }
  processes = [spawnApi(env), spawnApi(env)]
  adminKey = await vi.waitFor(() => {
    const key = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : ''
    if (key === '') throw new Error(processes.map(({ output }) => output.join('')).join('\n'))
    return key
  }, 60_000)
})
afterAll(async () => {
  await Promise.all(
    processes.map(async ({ child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    }),
  )
  await closeDatabase(db)
  await database.drop()
  rmSync(folder, { recursive: true })
})

test('two processes that start on an empty database create one first ADMIN', async () => {
  // Each process creates or finds the ADMIN before it handles the signal.
  await Promise.all(processes.map(({ output }) => listening(output)))
  const later = await bootstrapAdmin(database.url, 'first@example.com', (key) => deliverKey(key, keyFile))
  expect(later).toBeUndefined()
  const rows = await db.$client`SELECT 1 FROM accounts`
  expect(rows).toHaveLength(1)
  expect(readFileSync(keyFile, 'utf8').trim()).toBe(adminKey)
  for (const { output } of processes) expect(output.join('')).not.toContain('Could not create')
})

const keys = Array.from({ length: 12 }, (_, n) => `key-${n}`)

describe('a process that is killed during requests', () => {
  test.each([
    // Nothing was committed.
    {
      path: '/create-user',
      fields: (key: string) => ({ email: `${key}@example.com`, password: 'correct horse' }),
      id: 'user_id',
      blockedBy: 'audit_log',
    },
    { path: '/create-key', fields: (key: string) => ({ name: key }), id: 'key_id', blockedBy: 'audit_log' },
    // One statement, which Postgres completes although its client is gone.
    {
      path: '/send-message',
      fields: (key: string) => ({ sender: '4915112345678', number: '4915187654321', message: key }),
      id: 'message_id',
      blockedBy: 'messages',
    },
  ])(
    '$path takes effect exactly once when it is retried on another process',
    async ({ path, fields, id, blockedBy }) => {
      if (path === '/send-message') await linkSender('4915112345678')
      const victim = spawnApi(env)
      const before = await makeCalls(await listening(victim.output))
      const after = await makeCalls(await listening(processes[0]?.output ?? []))
      const counted = () => countEffects(path)
      const existing = await counted()

      const calls = (client: Client) =>
        keys.map((key) => client.post(path, { ...fields(key), idempotency_key: key }))
      const answered = await before.post(path, { ...fields('key-0'), idempotency_key: 'key-0' })
      const release = await lock(blockedBy)
      const doomed = Promise.allSettled(calls(before))
      await untilBlocked()
      victim.child.kill('SIGKILL')
      const lost = await doomed
      expect(lost.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
      const repeated = Promise.all([...calls(after), ...calls(after)])
      await release()

      const answers = await repeated
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(new Set(answers.map(({ body }) => body[id])).size).toBe(keys.length)
      expect(answers[0]?.body[id]).toBe(answered.body[id])
      expect(await counted()).toBe(existing + keys.length)
    },
  )
})

async function makeCalls(url: string): Promise<Client> {
  const client = makeClient(url, adminKey)
  // Afterwards the key is cached and the connections are open.
  expect((await client.get('/user-info')).status).toBe(200)
  return client
}

async function linkSender(sender: string): Promise<void> {
  const client = makeClient(await listening(processes[0]?.output ?? []), adminKey)
  await client.post('/create-device', { sender })
  await db.$client`UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1`
}

async function countEffects(path: string): Promise<number> {
  const table = { '/create-user': 'accounts', '/create-key': 'api_keys' }[path] ?? 'messages'
  const [row] = await db.$client<{ count: number }[]>`SELECT count(*)::int FROM ${db.$client(table)}`
  return row?.count ?? 0
}

/** Blocks all writes to the table until it is released. */
async function lock(table: string): Promise<() => Promise<void>> {
  const sql = await db.$client.reserve()
  await sql`BEGIN`
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
  await sql`LOCK TABLE ${sql(table)} IN SHARE ROW EXCLUSIVE MODE`
  return async () => {
    await sql`COMMIT`
    sql.release()
  }
}

async function untilBlocked(): Promise<void> {
  await vi.waitFor(
    async () => {
      const blocked = await db.$client`
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'wagate-api' AND wait_event_type = 'Lock'`
      expect(blocked.length).toBeGreaterThan(0)
    },
    { timeout: 10_000, interval: 10 },
  )
}
