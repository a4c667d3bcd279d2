import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import { type Claim, claimMessages, releaseMessages } from '@wagate/db/queries/message-claims'
import type { Logger } from '@wagate/runtime/logger'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { makeSemaphore } from '@wagate/runtime/semaphore'

type Held = Claim & {
  /** As read from Postgres; the stored number may be higher by one. */
  interruptions: number
}

export type Hold = {
  /** Three owners died or lost their lease while they held the message: it must not be handled. */
  isPoison: boolean
  /** Call when the message is no longer handled and its mark is already gone. */
  end(): void
  /** Removes the mark: if this process dies from now on, the message is not the cause. */
  unmark(): Promise<void>
  /** Removes the mark if earlier owners died with the message. Other messages save the statement. */
  unmarkSuspect(): Promise<void>
}

/**
 * Marks messages while a worker handles them, so that the next owner knows what a dead one was handling. A message
 * that was marked when an earlier owner died is handled alone in the process, so that no other message is blamed for the
 * next death.
 */
export type Holds = {
  /** Undefined when the message was canceled, or the shard has another owner. */
  take(message: Held): Promise<Hold | undefined>
}

const interruptionsMax = 3
/**
 * The pause before a message is handled alone. It is random, so that workers which are killed at the same step each time
 * are not handling the same innocent message each time.
 */
const aloneDelayMs = { least: 500, most: 2500 }
/** A message that takes longer than this is only waiting, for instance for Postgres. */
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
            .catch((error) => logger.warn({ err: error }, 'Unmarking messages failed'))
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
