import { EventEmitter } from 'node:events'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { makeLogger } from '@wagate/shared/logger'
import { createTestDatabase } from '../../../devnet/src/test-database.ts'
import { startTcpProxy, type TcpProxy } from '../../../packages/queue/test/tcp-proxy.ts'
import type { Lease, ShardHolder } from '../src/ownership/lease.ts'
import { type Ownership, type OwnershipOptions, startOwnership } from '../src/ownership/ownership.ts'

export const shards = 256

type Timing = Pick<OwnershipOptions, 'leaseTtlMs' | 'heartbeatMs' | 'tickMs'>
export const quick: Timing = { leaseTtlMs: 600, heartbeatMs: 100, tickMs: 50 }
/** Nothing that happens during a test can be the end of such a lease. */
export const endless: Timing = { leaseTtlMs: 600_000, heartbeatMs: 100, tickMs: 50 }

export type TestWorker = Ownership & {
  holder: RecordingHolder
  /** Between this worker and Postgres. */
  proxy: TcpProxy
  id(): string | undefined
}

export type Cluster = {
  db: Database
  startWorker(
    name: string,
    timing: Timing,
    options?: { capacity?: number; holder?: RecordingHolder },
  ): Promise<TestWorker>
  close(): Promise<void>
}

/** Workers without sessions, in this process, on a database of their own. */
export async function openCluster(): Promise<Cluster> {
  const server = await createTestDatabase()
  const db = openDatabase(server.url, { poolSize: 5, applicationName: 'test', statementTimeoutMs: 4000 })
  const bus = new EventEmitter().setMaxListeners(0)
  const closers: (() => Promise<void>)[] = []

  return {
    db,

    async startWorker(name, timing, { capacity = 500, holder = makeRecordingHolder() } = {}) {
      const proxy = await startTcpProxy(server.url)
      const open = (poolSize: number) =>
        openDatabase(proxy.url, { poolSize, applicationName: name, statementTimeoutMs: 4000 })
      const [tickDb, heartbeatDb] = [open(2), open(1)]
      const ownership = startOwnership({
        ...timing,
        db: tickDb,
        heartbeatDb,
        holder,
        events: {
          async publishShardsChanged() {
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
        await ownership.close()
        await Promise.all([closeDatabase(tickDb), closeDatabase(heartbeatDb)])
        await proxy.close()
      })
      return { ...ownership, holder, proxy, id: () => ownership.state().workerId }
    },

    async close() {
      await Promise.all(closers.map((close) => close()))
      await closeDatabase(db)
      await server.drop()
    },
  }
}

export type RecordingHolder = ShardHolder & {
  leases: Map<number, Lease>
  taken: number[]
  dropped: { shard: number; why: 'released' | 'lost' }[]
  linked: Map<number, number>
}

/** Holds nothing, and throws when it is asked for what the contract excludes. */
export function makeRecordingHolder(overrides: Partial<ShardHolder> = {}): RecordingHolder {
  let busy = false
  async function alone(work: () => Promise<unknown>): Promise<void> {
    if (busy) throw new Error('The holder was asked for two things at a time')
    busy = true
    try {
      await work()
    } finally {
      busy = false
    }
  }

  const holder: RecordingHolder = {
    leases: new Map(),
    taken: [],
    dropped: [],
    linked: new Map(),
    linkedDevices: (shard) => holder.linked.get(shard) ?? 0,
    take: (leases) =>
      alone(async () => {
        await overrides.take?.(leases)
        for (const lease of leases) {
          if (holder.leases.has(lease.shard)) throw new Error('The holder was given a shard twice')
          holder.leases.set(lease.shard, lease)
          holder.taken.push(lease.shard)
        }
      }),
    drop: (dropped, why) =>
      alone(async () => {
        await overrides.drop?.(dropped, why)
        for (const shard of dropped) {
          holder.leases.delete(shard)
          holder.dropped.push({ shard, why })
        }
      }),
  }
  return holder
}
