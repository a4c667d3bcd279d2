import type { OwnedShard } from '@wagate/db/queries/shard-leases'
import type { Logger } from '@wagate/shared/logger'
import type { Lease, ShardHolder } from './lease.ts'
import type { Registration } from './membership.ts'

type Held = { lease: Lease; isLost: boolean; isEnded: boolean }

export type HeldShards = {
  linkedDevices(): number
  /** Those in use, cheapest to move first. */
  list(): { shard: number; epoch: number; linked: number }[]
  take(owned: OwnedShard[], registration: Registration): Promise<void>
  /** Ends the lease at once; `dropLost` closes what hangs on it. */
  lose(shard: number): void
  loseAll(): void
  dropLost(): Promise<void>
  /** Leases stay valid while what is on the wire is finished. */
  dropReleased(shards: number[]): Promise<void>
  /** From here on `take` throws. */
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

  return {
    linkedDevices: () => sum([...held.keys()].map((shard) => holder.linkedDevices(shard))),

    list: () =>
      [...held.values()]
        .filter((entry) => !entry.isEnded)
        .map(({ lease: { shard, epoch } }) => ({ shard, epoch, linked: holder.linkedDevices(shard) }))
        .sort((a, b) => a.linked - b.linked || a.shard - b.shard),

    take: (owned, registration) =>
      inTurn(async () => {
        if (isClosing) throw new Error('The worker stops')
        const taken = owned.map((shard) => makeHeld(shard, registration))
        for (const entry of taken) held.set(entry.lease.shard, entry)
        try {
          await holder.take(taken.map(({ lease }) => lease))
        } catch (error) {
          for (const entry of taken) lose(entry)
          throw error
        }
      }),

    lose(shard) {
      const entry = held.get(shard)
      if (entry) lose(entry)
    },

    loseAll() {
      for (const entry of held.values()) lose(entry)
    },

    dropLost: () =>
      inTurn(() =>
        drop(
          [...held.values()].filter((entry) => entry.isLost),
          'lost',
        ),
      ),

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

function makeHeld({ shard, epoch }: OwnedShard, registration: Registration): Held {
  const isValid = () => !held.isEnded && registration.isValid()
  const held: Held = {
    lease: { shard, epoch, workerId: registration.workerId, isValid },
    isLost: false,
    isEnded: false,
  }
  return held
}

function lose(entry: Held): void {
  entry.isLost = true
  entry.isEnded = true
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
