import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import {
  type Claim,
  type Claimed,
  claimFirstMessages,
  claimMessages,
  type FirstClaim,
  releaseMessages,
} from '@wagate/db/queries/messages/message-claims'
import type { Logger } from '@wagate/runtime/logger'
import { makeSemaphore } from '@wagate/runtime/semaphore'
import { type AuthWrites, makeStatementBatch } from '../statements/statement-batch.ts'

export type ClaimRequest = Claim & {
  /** As read from Postgres; the stored number may be higher by one. */
  interruptions: number
}

export type MessageClaim = {
  /** Null for a claim that counts no contact. */
  contact: Pick<FirstClaim, 'countedToday' | 'day'> | null
  /**
   * Why the message must not be handled: four owners died or lost their lease while they had claimed it, or its recipient
   * has opted out.
   */
  refusal: 'message_stops_workers' | 'opted_out' | undefined
  /** Call when the message is no longer handled and another statement has released it. */
  end(): void
  /** Releases the message: if this process dies from now on, the message is not the cause. */
  release(): Promise<void>
  /** Releases the message if earlier owners died with it. Other messages save the statement. */
  releaseSuspect(): Promise<void>
}

/**
 * Claims messages while a worker handles them, so that the next owner knows which ones a dead worker was handling. A
 * message that was claimed when an earlier owner died is handled alone in the process, so that no other message is blamed
 * for the next death.
 */
export type MessageClaims = {
  /** Undefined when the message was canceled, or the shard has another owner. */
  claim(message: ClaimRequest): Promise<MessageClaim | undefined>
  /**
   * As `claim`, but waits for the next Signal state of any device, to be stored with it: for a message that is about to be
   * encrypted, and that no earlier owner has claimed.
   */
  claimLate(message: ClaimRequest): Promise<MessageClaim | undefined>
  /** As `claim`, and counts the recipient if it is a new contact. A crash of Postgres does not undo it. */
  claimFirst(message: ClaimRequest): Promise<MessageClaim | undefined>
}

/**
 * The last two of these owners handle it without other suspects. After one such death, a message that happened to be in
 * progress would fail as the cause.
 */
const interruptionsMax = 4
/**
 * The pause before a message is handled alone, for each interruption. It is random, so that workers which are killed at the
 * same step each time are not handling the same innocent message each time.
 */
const aloneDelayMs = { least: 500, most: 2500 }
/** A message that takes longer than this is only waiting, for instance for Postgres. */
const aloneMsMax = 5000
const batchItemsMax = 500

export function makeMessageClaims(
  {
    db,
    claimsDb,
    authWrites,
  }: { db: Database; claimsDb: Database; authWrites: Pick<AuthWrites, 'claimWithNext'> },
  logger: Logger,
): MessageClaims {
  const alone = makeSemaphore(1)
  const claimBatch = makeStatementBatch((items: Claim[]) => claimMessages(claimsDb, items), {
    itemsMax: batchItemsMax,
  })
  const firstClaimBatch = makeStatementBatch((items: Claim[]) => claimFirstMessages(db, items), {
    itemsMax: batchItemsMax,
  })
  const releaseBatch = makeStatementBatch(
    async (items: Pick<Claim, 'fence' | 'id' | 'createdAt'>[]) => {
      await releaseMessages(db, items)
      return items.map(() => undefined)
    },
    { itemsMax: batchItemsMax },
  )

  async function untilAlone(interruptions: number): Promise<() => void> {
    const { least, most } = aloneDelayMs
    await delay(interruptions * (least + Math.random() * (most - least)))
    const endTurn = await alone.acquire(1)
    const timer = setTimeout(endTurn, aloneMsMax)
    return () => {
      clearTimeout(timer)
      endTurn()
    }
  }

  async function claimWith(
    message: ClaimRequest,
    add: () => Promise<(Claimed & { contact: MessageClaim['contact'] }) | undefined>,
  ): Promise<MessageClaim | undefined> {
    const end = message.interruptions > 0 ? await untilAlone(message.interruptions) : () => undefined
    try {
      const found = await add()
      if (!found) {
        end()
        return undefined
      }
      const { interruptions, isOptedOut, contact } = found
      const release = () =>
        releaseBatch
          .add(message)
          .catch((error) => logger.warn({ err: error }, 'Releasing messages failed'))
          .finally(end)
      return {
        contact,
        refusal: isOptedOut
          ? 'opted_out'
          : interruptions >= interruptionsMax
            ? 'message_stops_workers'
            : undefined,
        end,
        release,
        releaseSuspect: async () => (interruptions > 0 ? release() : end()),
      }
    } catch (error) {
      end()
      throw error
    }
  }

  const withoutContact = (found: Claimed | undefined) => found && { ...found, contact: null }

  return {
    claim: (message) => claimWith(message, async () => withoutContact(await claimBatch.add(message))),
    claimLate: (message) =>
      claimWith(message, async () => withoutContact(await authWrites.claimWithNext(message))),
    claimFirst: (message) =>
      claimWith(message, async () => {
        const found = await firstClaimBatch.add(message)
        return found && { ...found, contact: found }
      }),
  }
}
