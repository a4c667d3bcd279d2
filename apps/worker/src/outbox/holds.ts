import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import { type Claim, claimMessages, releaseMessages } from '@wagate/db/queries/message-claims'
import type { Logger } from '@wagate/shared/logger'
import { makeNaturalBatch } from '@wagate/shared/natural-batch'
import { makeSemaphore } from '@wagate/shared/semaphore'

type Held = Claim & {
  /** As it was read; the stored number may be higher by one. */
  interruptions: number
}

export type Hold = {
  /** Three owners died or lost their lease while they held the message: it must not be handled. */
  isPoison: boolean
  /** The message is no longer handled, and the mark is gone already. */
  end(): void
  /** Takes the mark back: what ends this process from now on is not the message. */
  unmark(): Promise<void>
  /** Takes the mark back if earlier owners died with the message: others need no statement more. */
  unmarkSuspect(): Promise<void>
}

/**
 * Marks messages while a worker handles them, so that the next owner knows what a dead one was handling. A message
 * that was marked at a death before is handled alone in the process: its neighbours cannot be blamed for the next one.
 */
export type Holds = {
  /** Undefined when the message was canceled, or the shard has another owner. */
  take(message: Held): Promise<Hold | undefined>
}

const interruptionsMax = 3
/**
 * Before a message is handled alone: workers that are killed at the same step each time must not meet the same innocent
 * message each time.
 */
const aloneDelayMs = { least: 500, most: 2500 }
/** A message that takes longer than this only waits: for Postgres, for instance. */
const aloneMsMax = 5000
const batchItemsMax = 500

export function makeHolds(databases: { db: Database; claimsDb: Database }, logger: Logger): Holds {
  const { db, claimsDb } = databases
  const alone = makeSemaphore(1)
  const claims = makeNaturalBatch((items: Claim[]) => claimMessages(claimsDb, items), {
    itemsMax: batchItemsMax,
  })
  const unmarks = makeNaturalBatch(
    async (items: Pick<Claim, 'fence' | 'id' | 'createdAt'>[]) => {
      await releaseMessages(db, items)
      return items.map(() => undefined)
    },
    { itemsMax: batchItemsMax },
  )

  async function untilAlone(): Promise<() => void> {
    await delay(aloneDelayMs.least + Math.random() * (aloneDelayMs.most - aloneDelayMs.least))
    const giveBack = await alone.acquire(1)
    const timer = setTimeout(giveBack, aloneMsMax)
    return () => {
      clearTimeout(timer)
      giveBack()
    }
  }

  return {
    async take(message) {
      const end = message.interruptions > 0 ? await untilAlone() : () => undefined
      try {
        const interruptions = await claims.add(message)
        if (interruptions === undefined) {
          end()
          return undefined
        }
        const unmark = () =>
          unmarks
            .add(message)
            .catch((error) => logger.warn({ err: error }, 'Messages could not be unmarked'))
            .finally(end)
        return {
          isPoison: interruptions >= interruptionsMax,
          end,
          unmark,
          unmarkSuspect: async () => (interruptions > 0 ? unmark() : end()),
        }
      } catch (error) {
        end()
        throw error
      }
    },
  }
}
