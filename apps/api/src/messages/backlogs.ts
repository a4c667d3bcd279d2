import type { Database } from '@wagate/db/client'
import { countWaitingMessages } from '@wagate/db/queries/waiting-messages'
import { LRUCache } from 'lru-cache'

/** How much waits for each sender, about: nobody who sends waits for a count. */
export type Backlogs = {
  isFull(accountId: number, sender: string): boolean
  /** One more was accepted. */
  note(accountId: number, sender: string, deviceId: number): void
}

type Backlog = { deviceId: number; counted: number; acceptedSince: number; countedAtMs: number }

/** Other replicas accept as well: each counts anew after this part of the limit, so that they do not stray far. */
const partOfLimit = 20
const countEveryMsMin = 1000

export function makeBacklogs(db: Database, limit: number, onError: (error: unknown) => void): Backlogs {
  const backlogs = new LRUCache<string, Backlog>({ max: 100_000 })
  const stale = new Set<Backlog>()
  let isCounting = false

  /** One at a time: a thousand senders at once are no reason for a thousand counts at once. */
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
      // A sender that was deleted and made anew has another device.
      if (known?.deviceId === deviceId) {
        known.acceptedSince += 1
        if (known.acceptedSince * partOfLimit >= limit) count(known)
        return
      }
      const made = { deviceId, counted: 0, acceptedSince: 1, countedAtMs: Number.NEGATIVE_INFINITY }
      backlogs.set(key, made)
      count(made)
    },
  }
}
