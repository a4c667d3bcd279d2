import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { makeLogger } from '@wagate/runtime/logger'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { createTestDatabase, type TestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config/config.ts'
import { startWorker } from '../src/start.ts'

type Worker = {
  child: ChildProcess
  ready(): Promise<{ status: number; body: Record<string, unknown> }>
  metrics(): Promise<{ type: string | null; text: string }>
}

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const eventually = { timeout: 40_000, interval: 50 }
/** A process from source takes seconds to start, more beside other tests. */
const options = { timeout: 90_000 }
const children: ChildProcess[] = []
let database: TestDatabase
let link: TcpProxy
let redisUrl: string

async function openServers(): Promise<void> {
  database = await createTestDatabase()
  link = await startTcpProxy(database.url)
  redisUrl = await testRedisUrl()
}

async function closeAll(): Promise<void> {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (!hasEnded(child)) await once(child, 'exit')
  }
  await link.close()
  await database.drop()
}

/** The processes are the same in all tests. One that a test has ended is started again when it is needed. */
describe('beside another worker', () => {
  const workers = new Map<string, Worker>()
  beforeAll(openServers)
  afterAll(closeAll)

  async function workerNamed(name: string): Promise<Worker> {
    const running = workers.get(name)
    if (running && !hasEnded(running.child)) return running
    const worker = await untilStarted(spawnWorker(name, 'inherit'))
    workers.set(name, worker)
    return worker
  }

  async function both(): Promise<[Worker, Worker]> {
    const pair = await Promise.all([workerNamed('first'), workerNamed('second')])
    await Promise.all(pair.map((worker) => owns(worker, 128)))
    return pair
  }

  test('a process that was paused for longer than its lease continues with a new id', options, async () => {
    const [first, second] = await both()
    const formerId = (await second.ready()).body.worker_id
    second.child.kill('SIGSTOP')
    await owns(first, 256)
    second.child.kill('SIGCONT')
    await vi.waitFor(async () => expect((await second.ready()).body.worker_id).not.toBe(formerId), eventually)
    await owns(second, 128)
  })

  test('a signal hands the shards over and ends the process with 0', options, async () => {
    const [first, second] = await both()
    first.child.kill('SIGTERM')
    expect(await once(first.child, 'exit')).toEqual([0, null])
    await owns(second, 256)
  })

  test('Prometheus metrics show what the worker owns', options, async () => {
    const worker = await workerNamed('second')
    await vi.waitFor(async () => {
      const { owned_shards: owned } = (await worker.ready()).body
      const { type, text } = await worker.metrics()
      expect(owned).toBeGreaterThan(0)
      expect(text).toMatch(new RegExp(`^wagate_owned_shards ${owned}$`, 'm'))
      expect(text).toMatch(/^wagate_lease_valid 1$/m)
      // Counted beside the start, not before it.
      expect(text).toMatch(/^wagate_message_partitions_ahead_weeks 8$/m)
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
      expect(type).toContain('text/plain')
    }, eventually)
  })

  test('a second signal ends the process at once', options, async () => {
    const { child, ready } = await workerNamed('second')
    link.freeze()
    try {
      child.kill('SIGINT')
      await vi.waitFor(async () => expect((await ready()).status).toBe(503), eventually)
      child.kill('SIGINT')
      expect(await once(child, 'exit')).toEqual([1, null])
    } finally {
      link.heal()
    }
  })
})

describe('when it starts', () => {
  beforeEach(openServers)
  afterEach(closeAll)

  test('a Redis that evicts keys ends the start, and the log says what to set', options, async () => {
    const redis = await startOwnRedis()
    try {
      await redis.set('maxmemory-policy', 'allkeys-lfu')
      redisUrl = redis.url
      await expect(startHere()).rejects.toThrow(/maxmemory-policy allkeys-lfu.*noeviction/)
    } finally {
      await redis.close()
    }
  })

  test(
    'a worker of the other network touches no credentials and ends with one message',
    options,
    async () => {
      const db = openDatabase(database.url, {
        poolSize: 1,
        applicationName: 'test',
        statementTimeoutMs: 5000,
      })
      const sql = db.$client
      try {
        const [account] = await sql<{ id: number }[]>`
        INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@b.c', '', 'USER', 1)
        RETURNING id`
        const [device] = await sql<{ id: number }[]>`
        INSERT INTO devices (id, shard, account_id, sender, name, desired, has_credentials, link_generation)
        SELECT nextval('devices_id_seq'), 0, ${account?.id ?? 0}, '15550000001', '', 'linked', true, 1 RETURNING id`
        await sql`
        INSERT INTO device_auth (device_id, type, id, value) VALUES (${device?.id ?? 0}, 'creds', '', 'sealed')`
        const read = () =>
          sql`SELECT devices.*, value FROM devices JOIN device_auth ON device_id = devices.id`
        const before = await read()
        const expectNothingChanged = async () => {
          expect(await read()).toEqual(before)
          expect(await sql`SELECT * FROM workers`).toEqual([])
        }

        await sql`UPDATE installation SET network = 'live'`
        const child = spawnWorker('first', 'pipe')
        let errors = ''
        child.stderr?.on('data', (chunk) => {
          errors += chunk
        })
        expect((await once(child, 'close'))[0]).toBe(1)
        expect(errors.match(/Nothing was changed/g)).toHaveLength(1)
        expect(errors).toMatch(/linked on the network "live", but WHATSAPP_NETWORK is "simulator"/)
        await expectNothingChanged()

        await sql`UPDATE installation SET network = NULL`
        await expect(startHere()).rejects.toThrow(/Nothing was changed.*wagate network set simulator/s)
        await expectNothingChanged()
      } finally {
        await closeDatabase(db)
      }
    },
  )

  test('a start waits for Postgres, and a signal ends it', options, async () => {
    link.cut()
    const [child, impatient] = [spawnWorker('first', 'inherit'), spawnWorker('second', 'inherit')]
    await Promise.all([child, impatient].map((each) => logged(each, ({ what }) => what === 'postgres')))
    impatient.kill('SIGTERM')
    expect(await once(impatient, 'exit')).toEqual([0, null])
    link.heal()
    await owns(await untilStarted(child), 256)
  })
})

function settingsOf(name: string): Record<string, string> {
  return {
    DATABASE_URL: link.url,
    REDIS_URL: redisUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
    WHATSAPP_NETWORK: 'simulator',
    WHATSAPP_SOCKET_URL: 'ws://127.0.0.1:9/',
    WHATSAPP_ROOT_KEY: Buffer.alloc(32, 1).toString('base64'),
    WHATSAPP_MEDIA_HOST: '127.0.0.1:1',
    WORKER_NAME: name,
    HOST: '127.0.0.1',
    LEASE_TTL_MS: '1500',
    HEARTBEAT_MS: '300',
  }
}

const program = join(await bundledApps(), 'apps/worker/dist/main.js')

function spawnWorker(name: string, errors: 'inherit' | 'pipe'): ChildProcess {
  const child = spawn(process.execPath, [program], {
    cwd: repository,
    stdio: ['ignore', 'pipe', errors],
    env: { PATH: process.env.PATH, ...settingsOf(name) },
  })
  children.push(child)
  return child
}

/** In this process, for a start that is refused. Node prints the error of a process, which then ends with 1. */
const startHere = () => startWorker(readConfig(settingsOf('here')), makeLogger('worker', 'silent'))

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

async function untilStarted(child: ChildProcess): Promise<Worker> {
  const { healthPort: port } = await logged(child, ({ healthPort }) => healthPort !== undefined)
  return {
    child,
    async ready() {
      const response = await fetch(`http://127.0.0.1:${port}/health/ready`)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    async metrics() {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`)
      return { type: response.headers.get('content-type'), text: await response.text() }
    },
  }
}

type Line = { healthPort?: number; what?: string }

async function logged({ stdout }: ChildProcess, isWanted: (line: Line) => boolean): Promise<Line> {
  if (!stdout) throw new Error('The log of the worker is not piped')
  for await (const text of createInterface(stdout)) {
    const line: Line = JSON.parse(text)
    if (!isWanted(line)) continue
    stdout.resume()
    return line
  }
  throw new Error('The worker ended before')
}

async function owns(worker: Worker, count: number): Promise<void> {
  await vi.waitFor(async () => expect((await worker.ready()).body.owned_shards).toBe(count), eventually)
}
