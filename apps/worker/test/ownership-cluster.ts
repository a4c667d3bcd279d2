import { EventEmitter } from 'node:events'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { makeLogger } from '@wagate/runtime/logger'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { expect, type TestContext, vi } from 'vitest'
import type { Lease, ShardHost } from '../src/ownership/lease.ts'
import { type Ownership, type OwnershipOptions, startOwnership } from '../src/ownership/ownership.ts'

const shards = 256

type Timing = Pick<OwnershipOptions, 'leaseTtlMs' | 'heartbeatMs' | 'tickMs'>
export const quick: Timing = { leaseTtlMs: 600, heartbeatMs: 100, tickMs: 50 }
/** Such a lease does not end during a test. */
export const endless: Timing = { leaseTtlMs: 600_000, heartbeatMs: 100, tickMs: 50 }

export type TestWorker = Ownership & {
  host: RecordingHost
  /** Between this worker and Postgres. */
  link: Pick<TcpProxy, 'cut' | 'freeze' | 'heal'>
  /** The same, for everything but its heartbeats. */
  queryLink: TcpProxy
  id(): string | undefined
}

export type Cluster = {
  url: string
  db: Database
  /** How often a worker has told the others that owners change. */
  changes(): number
  startWorker(
    name: string,
    timing: Timing,
    options?: { capacity?: number; host?: RecordingHost },
  ): Promise<TestWorker>
  close(): Promise<void>
}

/** One for each test, so that tests can run beside each other. It is closed when the test is over. */
export async function clusterOf({ onTestFinished }: TestContext): Promise<Cluster> {
  const cluster = await openCluster()
  onTestFinished(() => cluster.close())
  return cluster
}

/** Workers without sessions, in this process, on their own database. */
async function openCluster(): Promise<Cluster> {
  const server = await createTestDatabase()
  const db = openDatabase(server.url, { poolSize: 5, applicationName: 'test', statementTimeoutMs: 4000 })
  const bus = new EventEmitter().setMaxListeners(0)
  let changes = 0
  const closers: (() => Promise<void>)[] = []

  return {
    url: server.url,
    db,
    changes: () => changes,

    async startWorker(name, timing, { capacity = 500, host = makeRecordingHost() } = {}) {
      const [queryLink, heartbeatLink] = await Promise.all([
        startTcpProxy(server.url),
        startTcpProxy(server.url),
      ])
      const open = ({ url }: TcpProxy) =>
        openDatabase(url, { poolSize: 1, applicationName: name, statementTimeoutMs: 4000 })
      const [queryDb, heartbeatDb] = [open(queryLink), open(heartbeatLink)]
      const both = (work: (link: TcpProxy) => void) => () => [queryLink, heartbeatLink].forEach(work)
      const link = {
        cut: both((each) => each.cut()),
        freeze: both((each) => each.freeze()),
        heal: both((each) => each.heal()),
      }
      const ownership = startOwnership({
        ...timing,
        db: queryDb,
        heartbeatDb,
        host,
        events: {
          async publishShardsChanged() {
            changes += 1
            bus.emit('shards-changed')
          },
          onShardsChanged(listener) {
            bus.on('shards-changed', listener)
            return () => bus.off('shards-changed', listener)
          },
        },
        logger: makeLogger(name, process.env.TEST_LOG_LEVEL ?? 'silent'),
        name,
        shards,
        capacity,
      })
      closers.push(async () => {
        link.heal()
        await ownership.close()
        await Promise.all([closeDatabase(queryDb), closeDatabase(heartbeatDb)])
        await Promise.all([queryLink.close(), heartbeatLink.close()])
      })
      return { ...ownership, host, link, queryLink, id: () => ownership.state().workerId }
    },

    async close() {
      await Promise.all(closers.map((close) => close()))
      await closeDatabase(db)
      await server.drop()
    },
  }
}

export type RecordingHost = ShardHost & {
  leases: Map<number, Lease>
  started: number[]
  stopped: { shard: number; why: 'released' | 'lost' }[]
  linked: Map<number, number>
}

/** Runs no devices, and throws when it is called in a way that the contract excludes. */
export function makeRecordingHost(overrides: Partial<ShardHost> = {}): RecordingHost {
  let busy = false
  async function alone(work: () => Promise<unknown>): Promise<void> {
    if (busy) throw new Error('The host got two calls at a time')
    busy = true
    try {
      await work()
    } finally {
      busy = false
    }
  }

  const host: RecordingHost = {
    leases: new Map(),
    started: [],
    stopped: [],
    linked: new Map(),
    linkedDevices: (shard) => host.linked.get(shard) ?? 0,
    isPairing: overrides.isPairing ?? (() => false),
    start: (leases) =>
      alone(async () => {
        await overrides.start?.(leases)
        for (const lease of leases) {
          if (host.leases.has(lease.shard)) throw new Error('The host got a shard twice')
          host.leases.set(lease.shard, lease)
          host.started.push(lease.shard)
        }
      }),
    stop: (stopping, why) =>
      alone(async () => {
        await overrides.stop?.(stopping, why)
        for (const shard of stopping) {
          host.leases.delete(shard)
          host.stopped.push({ shard, why })
        }
      }),
  }
  return host
}

export const eventually = { timeout: 15_000, interval: 10 }

export async function owns(worker: TestWorker, count: number): Promise<void> {
  await vi.waitFor(() => expect(worker.host.leases.size).toBe(count), eventually)
}

export async function startPair(cluster: Cluster, timing: Timing): Promise<[TestWorker, TestWorker]> {
  const first = await cluster.startWorker('first', timing)
  await owns(first, 256)
  const second = await cluster.startWorker('second', timing)
  await owns(first, 128)
  await owns(second, 128)
  return [first, second]
}

export async function everyShardHasOneHost({ db }: Cluster, workers: TestWorker[]): Promise<void> {
  const held = workers.flatMap(({ host }) => [...host.leases.values()])
  expect(new Set(held.map(({ shard }) => shard)).size).toBe(shards)
  expect(held).toHaveLength(shards)
  const newest = await epochsOf(db)
  for (const { shard, epoch } of held) expect(newest.get(shard)).toBe(epoch)
}

export async function epochsOf(db: Database): Promise<Map<number, number>> {
  const rows = await db.$client<{ shard: number; epoch: number }[]>`
    SELECT shard, epoch::int FROM shard_leases`
  return new Map(rows.map(({ shard, epoch }) => [shard, epoch]))
}

export async function statesByName(db: Database): Promise<Record<string, string>> {
  const rows = await db.$client<{ name: string; state: string }[]>`
    SELECT name, state FROM workers ORDER BY started_at`
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]))
}

/** One device in each of the first shards. */
export async function addLinkedDevices({ db }: Cluster, count: number): Promise<void> {
  const sql = db.$client
  await sql`INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@b', '', 'USER', 999)`
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, has_credentials)
    SELECT n, n, accounts.id, (490000000 + n)::text, '', true
    FROM accounts, generate_series(0, ${count - 1}::int) AS device (n)`
}
