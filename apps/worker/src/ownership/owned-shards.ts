import { describeShards, type OwnedShard } from '@wagate/db/queries/workers/shard-leases'
import type { Logger } from '@wagate/runtime/logger'
import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import type { Lease, ShardHost } from './lease.ts'
import type { Registration } from './membership.ts'

type ClaimedShard = OwnedShard & { linked: number }

type ListedShard = Readonly<ClaimedShard & { isMovable: boolean }>

export type OwnedShards = {
  linkedDevices(): number
  /** Those with a valid lease. The list, and `description`, cost next to nothing as long as no shard comes or goes. */
  list(): ListedShard[]
  /** By `describeShards`. */
  description(): string
  /** They count as owned at once. Those that the host fails to start are lost. Never rejects. */
  add(claimed: ClaimedShard[], registration: Registration): Promise<void>
  /** Ends the lease at once; `stopLost` stops the shard. False when this lease is not owned any more. */
  lose(lease: OwnedShard): boolean
  loseAll(): void
  stopLost(): Promise<void>
  /** Leases stay valid while messages in flight are finished. */
  stopReleased(shards: number[]): Promise<void>
  /** From now on `add` loses what it is given. */
  refuseMore(): void
}

type Entry = {
  lease: Lease
  listed: ListedShard
  /** Linked devices at the time of the claim, which count until the host knows them. */
  claimedLinked: number
  isStarted: boolean
  isLost: boolean
  isEnded: boolean
}

/** Starting more shards at the same time delays the heartbeat until other workers mark this one dead, and then the next one. */
const startedAtOnce = 32

/** The leases of this worker. The host gets one call at a time. */
export function makeOwnedShards(host: ShardHost, logger: Logger): OwnedShards {
  const entries = new Map<number, Entry>()
  const inTurn = makeOneAtATime()
  let isClosing = false
  /** Undefined after a shard came or went. */
  let current: { list: ListedShard[]; description: string } | undefined

  function endAsLost(entry: Entry): void {
    current = undefined
    entry.isLost = true
    entry.isEnded = true
  }

  async function start(batch: Entry[]): Promise<void> {
    try {
      await inTurn(async () => {
        if (isClosing) return batch.forEach(endAsLost)
        // A lease may end while its start waits for its turn.
        const starting = batch.filter(({ isEnded }) => !isEnded)
        if (starting.length === 0) return
        await host.start(starting.map(({ lease }) => lease))
        for (const entry of starting) entry.isStarted = true
      })
    } catch (error) {
      logger.error({ err: error, shards: batch.length }, 'Could not start shards')
      batch.forEach(endAsLost)
    }
  }

  async function stop(stopping: Entry[], why: 'released' | 'lost'): Promise<void> {
    if (stopping.length === 0) return
    const shards = stopping.map(({ lease }) => lease.shard)
    try {
      await host.stop(shards, why)
    } catch (error) {
      logger.error({ err: error, shards, why }, 'Could not stop shards cleanly')
    }
    current = undefined
    for (const entry of stopping) {
      entry.isEnded = true
      entries.delete(entry.lease.shard)
    }
  }

  function readCurrent() {
    if (current) return current
    const list = [...entries.values()].filter(({ isEnded }) => !isEnded).map(({ listed }) => listed)
    current = { list, description: describeShards(list) }
    return current
  }

  const listLost = () => [...entries.values()].filter(({ isLost }) => isLost)

  return {
    linkedDevices: () => [...entries.values()].reduce((total, entry) => total + linkedOf(entry, host), 0),

    list: () => [...readCurrent().list],

    description: () => readCurrent().description,

    async add(claimed, registration) {
      const added = claimed
        .toSorted((a, b) => b.linked - a.linked)
        .map((shard) => makeEntry(shard, registration, host))
      current = undefined
      for (const entry of added) entries.set(entry.lease.shard, entry)
      for (let first = 0; first < added.length; first += startedAtOnce)
        await start(added.slice(first, first + startedAtOnce))
    },

    lose({ shard, epoch }) {
      const entry = entries.get(shard)
      if (entry?.lease.epoch !== epoch) return false
      endAsLost(entry)
      return true
    },

    loseAll: () => entries.forEach(endAsLost),

    async stopLost() {
      // Without lost shards there is nothing to wait for, least of all for a long start.
      if (listLost().length > 0) await inTurn(() => stop(listLost(), 'lost'))
    },

    stopReleased: (shards) =>
      inTurn(() => {
        const released = shards.flatMap((shard) => entries.get(shard) ?? [])
        return stop(
          released.filter(({ isLost }) => !isLost),
          'released',
        )
      }),

    refuseMore() {
      isClosing = true
    },
  }
}

function makeEntry(
  { shard, epoch, linked }: ClaimedShard,
  registration: Registration,
  host: ShardHost,
): Entry {
  const isValid = () => !entry.isEnded && registration.isValid()
  const entry: Entry = {
    lease: { shard, epoch, workerId: registration.workerId, isValid },
    listed: {
      shard,
      epoch,
      get linked() {
        return linkedOf(entry, host)
      },
      get isMovable() {
        return !host.isPairing(shard)
      },
    },
    claimedLinked: linked,
    isStarted: false,
    isLost: false,
    isEnded: false,
  }
  return entry
}

function linkedOf({ lease, isStarted, claimedLinked }: Entry, host: ShardHost): number {
  return isStarted ? host.linkedDevices(lease.shard) : claimedLinked
}
