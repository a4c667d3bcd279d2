import type { UnownedShard } from '@wagate/db/queries/workers/shard-leases'
import type { LiveWorker } from '@wagate/db/queries/workers/workers'
import type { OpeningReceiver } from './releases.ts'
import { fairShare, type Load } from './shares.ts'

/** What one worker knows when it plans a tick. */
export type View = {
  nowMs: number
  selfId: string
  capacity: number
  /** Of the installation. */
  shards: number
  tickMs: number
  /** The longest-running first. */
  workers: Pick<LiveWorker, 'id' | 'capacity' | 'owned' | 'deathInMs' | 'isSuspect'>[]
  unowned: UnownedShard[]
  /** The shards of this worker. */
  owned: { shard: number; linked: number; isMovable: boolean }[]
  /** By worker. Expensive to count, so only read when `needsDeviceCounts` says so. */
  deviceCounts?: Map<string, DeviceCounts>
}

/** `opening`: those of the linked devices that still wait for their login. */
export type DeviceCounts = { linked: number; opening: number }

/** All shards have owners, none of which may be gone. Draining workers own shards, but are not among `workers`. */
export function isSettled({ shards, workers }: Pick<View, 'shards' | 'workers'>): boolean {
  const owned = workers.reduce((total, worker) => total + worker.owned, 0)
  return owned === shards && !workers.some(({ isSuspect }) => isSuspect)
}

/** Shards that this worker is below its share; negative when it owns more. */
export function missingShards({ shards, selfId, workers, owned }: View): number {
  const rank = workers.findIndex(({ id }) => id === selfId)
  return (rank < 0 ? 0 : fairShare(shards, rank, workers.length)) - owned.length
}

export function loadOf({ owned, capacity, workers }: View): Load {
  const linked = owned.reduce((total, shard) => total + shard.linked, 0)
  return { linked, capacity, largestCapacity: largestCapacity(workers) }
}

export function receiversAmong({ shards, workers, deviceCounts }: View): OpeningReceiver[] {
  const largest = largestCapacity(workers)
  return workers.map(({ id, owned, capacity }, rank) => {
    const { linked, opening } = deviceCounts?.get(id) ?? { linked: 0, opening: 0 }
    const missing = Math.max(0, fairShare(shards, rank, workers.length) - owned)
    return { missing, load: { linked, capacity, largestCapacity: largest }, opening }
  })
}

/** Linked devices of this worker beyond the average. */
export function surplusDevices({ selfId, workers, deviceCounts }: View): number {
  let devices = 0
  for (const { linked } of deviceCounts?.values() ?? []) devices += linked
  return (deviceCounts?.get(selfId)?.linked ?? 0) - Math.ceil(devices / workers.length)
}

function largestCapacity(workers: { capacity: number }[]): number {
  return workers.reduce((largest, { capacity }) => Math.max(largest, capacity), 0)
}
