import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { migrate } from '@wagate/db/migrate'
import { makeClient } from '@wagate/test-kit/http-client'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { createTestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { eventually } from '@wagate/test-kit/until'
import { afterEach, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { bootstrapAdmin, deliverKey } from '../src/credentials/bootstrap-admin.ts'
import { startApi } from '../src/start.ts'
import { listening, spawnApi } from './api-process.ts'

const proxied = { 'x-forwarded-for': '203.0.113.7' }
const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

test('writes the first key to a file, logs no keys, texts or numbers, and exits with 0', async () => {
  const env = await makeEnv()
  const keyFile = env.BOOTSTRAP_KEY_FILE ?? ''
  const { child, output } = start(env)
  const written = await vi.waitFor(() => {
    const text = readFileSync(keyFile, 'utf8')
    expect(text).toMatch(/^wag_\w{49}\n$/)
    return text.trim()
  }, 20_000)
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  const client = makeClient(await listening(output))
  const secrets = {
    sender: '4915155555555',
    number: '4915166666666',
    message: 'very private text',
    password: 'my secret password',
    email: 'private@example.com',
    api_key: written,
  }
  for (const path of ['/create-device', '/send-message', '/create-user', '/info-device', '/nothing']) {
    await client.get(path, secrets)
    await client.post(path, secrets)
    await client.post(path, JSON.stringify(secrets).slice(0, -1))
  }
  await end(child, 'SIGTERM')
  const lines = output.join('').trim().split('\n')
  for (const secret of Object.values(secrets)) expect(output.join('')).not.toContain(secret)
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'Request completed')
  expect(requests).toHaveLength(15)
  expect(requests[0]).toMatchObject({
    method: 'GET',
    path: '/create-device',
    status: 200,
    accountId: expect.any(Number),
    keyId: expect.any(Number),
    client: '127.0.0.1',
    durationMs: expect.any(Number),
    requestId: expect.any(String),
  })
}, 60_000)

test('creates no first ADMIN without a file or a terminal for its key', async () => {
  const env = await makeEnv()
  const { output } = start({ ...env, BOOTSTRAP_KEY_FILE: '' })
  await vi.waitFor(() => expect(output.join('')).toContain('Could not create the first ADMIN'), 20_000)
  expect(output.join('')).not.toContain('wag_')
  const keyFile = env.BOOTSTRAP_KEY_FILE
  await bootstrapAdmin(env.DATABASE_URL ?? '', 'first@example.com', (key) => deliverKey(key, keyFile))
  expect(readFileSync(keyFile ?? '', 'utf8')).toMatch(/^wag_/)
}, 60_000)

test('waits for Postgres at start', async () => {
  const env = await makeEnv()
  const link = await startTcpProxy(env.DATABASE_URL ?? '')
  closers.push(link.close)
  link.cut()
  const { child, output } = start({ ...env, DATABASE_URL: link.url })
  await vi.waitFor(() => expect(output.join('')).toContain('"what":"postgres"'), 20_000)
  link.heal()
  await listening(output)
  await end(child, 'SIGTERM')
}, 60_000)

test('refuses to start with a different number of shards and says so', async () => {
  const { child, output } = start({ ...(await makeEnv()), SHARDS: '8' })
  const [code] = await once(child, 'exit')
  expect(code).not.toBe(0)
  expect(output.join('')).toContain('has 256 shards, but SHARDS is 8')
})

test('refuses to start on an installation of the other network and says what to set', async () => {
  const env = await makeEnv()
  await migrate(env.DATABASE_URL ?? '', { shards: 256, network: 'simulator' })
  await expect(startHere(env)).rejects.toThrow('Set WHATSAPP_NETWORK to "simulator"')
})

test('refuses to start on a Redis that evicts keys and says what to set', async () => {
  const redis = await startOwnRedis()
  closers.push(redis.close)
  await redis.set('maxmemory-policy', 'volatile-lru')
  const env = { ...(await makeEnv()), REDIS_URL: redis.url }
  await expect(startHere(env)).rejects.toThrow(/maxmemory-policy volatile-lru.*noeviction/)
})

test.each(['PORT', 'METRICS_PORT'])(
  'refuses to start on a %s that is in use and names it',
  async (variable) => {
    const other = createServer().listen(0, '127.0.0.1')
    closers.push(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const env = { ...(await makeEnv()), [variable]: String(port) }
    await expect(startHere(env)).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port} (another program uses it). Choose another port with ${variable}.`,
    )
  },
)

test('serves metrics on loopback when the API listens on every address', async () => {
  const { output } = start({ ...(await makeEnv()), HOST: '0.0.0.0', TRUST_PROXY: '1' })
  const url = new URL(await listening(output))
  const line = output
    .join('')
    .split('\n')
    .find((text) => text.includes('API listening'))
  const { metricsPort } = JSON.parse(line ?? '')
  // Another loopback address on Linux, unreachable elsewhere.
  await expect(fetch(`http://127.0.0.2:${metricsPort}/metrics`)).rejects.toThrow()
  expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status).toBe(200)
  if (process.platform === 'linux') {
    expect((await fetch(`http://127.0.0.2:${url.port}/health/live`)).status).toBe(200)
  }
  await fetch(new URL('/health/live', url), { headers: proxied })
  expect(output.join('')).not.toContain('TRUST_PROXY is 0')
}, 60_000)

test('warns once about a proxy that is not configured', async () => {
  const { child, output } = start(await makeEnv())
  const url = await listening(output)
  for (let n = 0; n < 3; n++) await fetch(`${url}/health/live`, { headers: proxied })
  await vi.waitFor(() => expect(output.join('')).toContain('TRUST_PROXY is 0'), eventually)
  expect(output.join('').split('TRUST_PROXY is 0')).toHaveLength(2)
  await end(child, 'SIGINT')
}, 60_000)

test('names every invalid setting, but not its value', async () => {
  const starting = startHere({ DATABASE_URL: 'mysql://secret', REDIS_URL: '', PORT: 'x' })
  // As Node prints it.
  const printed = inspect(await starting.catch((error: unknown) => error))
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'PORT']) expect(printed).toContain(name)
  expect(printed).not.toContain('mysql://secret')
})

test('logs unhandled errors without their properties and exits with 1 after an exception', async () => {
  const plant = `
    const carrying = (text) => Object.assign(new Error(text), { query: 'planted secret' })
    setTimeout(() => Promise.reject(carrying('planted rejection')), 1)
    process.once('SIGUSR2', () => { throw carrying('planted exception') })`
  const env = {
    ...(await makeEnv()),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const begin = () => {${plant}}; process.once('SIGUSR1', begin)`)}`,
  }
  const { child, output } = start(env)
  const text = () => output.join('')
  await vi.waitFor(() => expect(text()).toContain('API listening'), 20_000)
  child.kill('SIGUSR1')
  await vi.waitFor(() => expect(text()).toContain('planted rejection'), 5000)
  const exited = once(child, 'exit')
  child.kill('SIGUSR2')
  expect(await exited).toEqual([1, null])
  const lines = text()
    .trim()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  expect(lines).toContainEqual(expect.objectContaining({ level: 50, msg: 'Unhandled rejection' }))
  expect(lines).toContainEqual(expect.objectContaining({ level: 60, msg: 'Uncaught exception' }))
  expect(text()).not.toContain('planted secret')
}, 60_000)

async function makeEnv(): Promise<Record<string, string>> {
  const database = await createTestDatabase()
  closers.push(() => database.drop())
  const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  return {
    DATABASE_URL: database.url,
    REDIS_URL: await testRedisUrl(),
    LOG_LEVEL: 'trace',
    BOOTSTRAP_ADMIN_EMAIL: 'first@example.com',
    BOOTSTRAP_KEY_FILE: join(folder, 'admin-key'),
  }
}

function start(env: Record<string, string>): ReturnType<typeof spawnApi> {
  const spawned = spawnApi(env)
  closers.push(() => spawned.child.kill('SIGKILL'))
  return spawned
}

/** In this process, for what does not depend on having one of its own. */
async function startHere(env: Record<string, string>): Promise<void> {
  const api = await startApi(readConfig({ HOST: '127.0.0.1', PORT: '0', ...env, LOG_LEVEL: 'silent' }))
  closers.push(api.close)
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit')
  child.kill(signal)
  expect(await exited).toEqual([0, null])
}
