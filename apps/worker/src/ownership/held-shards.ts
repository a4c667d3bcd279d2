import type { OwnedShard } from '@wagate/db/queries/shard-leases'
import type { Logger } from '@wagate/runtime/logger'
import type { Lease, ShardHolder } from './lease.ts'
import type { Registration } from './membership.ts'

type Held = {
  lease: Lease
  /** Linked devices at the time of the claim: what counts until the holder knows them. */
  claimedLinked: number
  isTaken: boolean
  isLost: boolean
  isEnded: boolean
}

/**
 * A process that takes all at once is busy for so long that its heartbeat comes late; it is marked dead, and
 * the next one does the same.
 */
const takenAtOnce = 32

type ClaimedShard = OwnedShard & { linked: number }

export type HeldShards = {
  linkedDevices(): number
  /** Those in use. */
  list(): (ClaimedShard & { isMovable: boolean })[]
  /** They count as held at once; those that the holder cannot take are lost. Never rejects. */
  take(claimed: ClaimedShard[], registration: Registration): Promise<void>
  /** Ends the lease at once; `dropLost` closes what hangs on it. False when this lease is not held any more. */
  lose(lease: OwnedShard): boolean
  loseAll(): void
  dropLost(): Promise<void>
  /** Leases stay valid while what is on the wire is finished. */
  dropReleased(shards: number[]): Promise<void>
  /** From here on `take` loses what it is given. */
  refuseMore(): void
}

/** The leases that were handed to the holder, which is asked for one thing at a time. */
export function makeHeldShards(holder: ShardHolder, logger: Logger): HeldShards {
  const held = new Map<number, Held>()
  let lastTurn: Promise<void> = Promise.resolve()
  let isClosing = false

  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = lastTurn.then(work)
    lastTurn = turn.catch(() => undefined)
    return turn
  }

  async function drop(entries: Held[], why: 'released' | 'lost'): Promise<void> {
    if (entries.length === 0) return
    const shards = entries.map(({ lease }) => lease.shard)
    try {
      await holder.drop(shards, why)
    } catch (error) {
      logger.error({ err: error, shards, why }, 'Shards were not dropped cleanly')
    }
    for (const entry of entries) {
      entry.isEnded = true
      held.delete(entry.lease.shard)
    }
  }

  async function takeSome(entries: Held[]): Promise<void> {
    try {
      await inTurn(async () => {
        if (isClosing) return entries.forEach(lose)
        await holder.take(entries.map(({ lease }) => lease))
        for (const entry of entries) entry.isTaken = true
      })
    } catch (error) {
      logger.error({ err: error, shards: entries.length }, 'Shards could not be taken')
      for (const entry of entries) lose(entry)
    }
  }

  function linkedOf({ lease, isTaken, claimedLinked }: Held): number {
    return isTaken ? holder.linkedDevices(lease.shard) : claimedLinked
  }

  return {
    linkedDevices: () => sum([...held.values()].map(linkedOf)),

    list: () =>
      [...held.values()]
        .filter((entry) => !entry.isEnded)
        .map((entry) => {
          const { shard, epoch } = entry.lease
          return { shard, epoch, linked: linkedOf(entry), isMovable: !holder.isPairing(shard) }
        }),

    async take(claimed, registration) {
      const entries = claimed
        .toSorted((a, b) => b.linked - a.linked)
        .map((shard) => beginLease(shard, registration))
      for (const entry of entries) held.set(entry.lease.shard, entry)
      for (let taken = 0; taken < entries.length; taken += takenAtOnce)
        await takeSome(entries.slice(taken, taken + takenAtOnce))
    },

    lose({ shard, epoch }) {
      const entry = held.get(shard)
      if (entry?.lease.epoch !== epoch) return false
      lose(entry)
      return true
    },

    loseAll() {
      for (const entry of held.values()) lose(entry)
    },

    async dropLost() {
      const lost = () => [...held.values()].filter((entry) => entry.isLost)
      // Nothing to wait for, least of all for a long take.
      if (lost().length > 0) await inTurn(() => drop(lost(), 'lost'))
    },

    dropReleased: (shards) =>
      inTurn(() =>
        drop(
          shards.flatMap((shard) => held.get(shard) ?? []).filter((entry) => !entry.isLost),
          'released',
        ),
      ),

    refuseMore() {
      isClosing = true
    },
  }
}

function beginLease({ shard, epoch, linked }: ClaimedShard, registration: Registration): Held {
  const isValid = () => !entry.isEnded && registration.isValid()
  const entry: Held = {
    lease: { shard, epoch, workerId: registration.workerId, isValid },
    claimedLinked: linked,
    isTaken: false,
    isLost: false,
    isEnded: false,
  }
  return entry
}

function lose(entry: Held): void {
  entry.isLost = true
  entry.isEnded = true
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
