import type { Database } from '@wagate/db/client'
import { countWaitingMessages } from '@wagate/db/queries/messages/waiting-messages'
import { LRUCache } from 'lru-cache'

/** Approximate queue length per sender, counted in the background. */
export type Backlogs = {
  isFull(accountId: number, sender: string): boolean
  /** To be called for every accepted message. */
  note(accountId: number, sender: string, deviceId: number): void
}

type Backlog = { deviceId: number; counted: number; acceptedSince: number; countedAtMs: number }

/** Recount after accepting this fraction of the limit, because other replicas accept messages as well. */
const recountFraction = 20
const countEveryMsMin = 1000

export function makeBacklogs(db: Database, limit: number, onError: (error: unknown) => void): Backlogs {
  const backlogs = new LRUCache<string, Backlog>({
    // A `max` would reserve the memory of all of them now.
    maxSize: 100_000,
    sizeCalculation: () => 1,
  })
  const stale = new Set<Backlog>()
  let isCounting = false

  /** One at a time, so that a thousand busy senders do not cause a thousand concurrent counts. */
  async function countStale(): Promise<void> {
    isCounting = true
    for (const backlog of stale) {
      stale.delete(backlog)
      const before = backlog.acceptedSince
      try {
        backlog.counted = await countWaitingMessages(db, backlog.deviceId, limit)
        backlog.acceptedSince -= before
      } catch (error) {
        onError(error)
      }
      backlog.countedAtMs = performance.now()
    }
    isCounting = false
  }

  function count(backlog: Backlog): void {
    if (performance.now() - backlog.countedAtMs < countEveryMsMin) return
    stale.add(backlog)
    if (!isCounting) void countStale()
  }

  return {
    isFull(accountId, sender) {
      const backlog = backlogs.get(`${accountId} ${sender}`)
      if (!backlog || backlog.counted + backlog.acceptedSince < limit) return false
      count(backlog)
      return true
    },
    note(accountId, sender, deviceId) {
      const key = `${accountId} ${sender}`
      const known = backlogs.get(key)
      // A sender that was deleted and created again has another device.
      if (known?.deviceId === deviceId) {
        known.acceptedSince += 1
        if (known.acceptedSince * recountFraction >= limit) count(known)
        return
      }
      const created = { deviceId, counted: 0, acceptedSince: 1, countedAtMs: Number.NEGATIVE_INFINITY }
      backlogs.set(key, created)
      count(created)
    },
  }
}
