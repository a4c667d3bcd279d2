import type { Database } from '@wagate/db/client'
import type { Away, NewMessage } from '@wagate/db/queries/accept-messages'
import { findKeyUses } from '@wagate/db/queries/idempotency'
import { deleteEndedMedia } from '@wagate/db/queries/waiting-media'
import { AppError } from '@wagate/shared/app-error'
import { makeNaturalBatch } from '@wagate/shared/natural-batch'
import type { MessageStatus } from '@wagate/shared/statuses'
import { LRUCache } from 'lru-cache'
import type { Deadline } from '../http/deadline.ts'
import { pauseForOthers } from '../http/pause-for-others.ts'
import { idempotencyKeyReused } from '../idempotency-key.ts'
import type { Backlogs } from './backlogs.ts'
import type { Commander } from './commander.ts'
import { senderBlocked, senderNotConnected, senderNotFound } from './sender-errors.ts'
import { type Arrival, type Outcome, settleArrivals } from './settle-arrivals.ts'

type Accepted = {
  messageId: string
  deviceId: number
  status: MessageStatus
  isReplay: boolean
  away: Away | null
}

export type Inbox = {
  /**
   * Stores the message and tells its owner. Throws AppErrors of the sender, its queue and the idempotency key, and
   * `fault` for a message that repeats none that was accepted.
   */
  accept(message: NewMessage, deadline: Deadline, fault?: AppError): Promise<Accepted>
}

type Options = { backlogs: Backlogs; command: Commander['place']; mediaBytesMax: number }

/** How often what an account's ended messages have left behind is looked for, at most. */
const cleanEveryMs = 10_000

export function makeInbox(db: Database, { backlogs, command, mediaBytesMax }: Options): Inbox {
  const cleaned = new LRUCache<number, true>({ max: 10_000, ttl: cleanEveryMs })
  const settle = (arrivals: Arrival[]) => settleArrivals(db, arrivals, { mediaBytesMax })
  const batch = makeNaturalBatch(settle, {
    itemsMax: 500,
    // A statement takes 0.4 ms, and 11 µs more for each message: in smaller pieces it would be most of the work.
    wholeMax: 32,
  })

  /** What cannot be accepted may still repeat what was. */
  async function findRepeated({ accountId, idempotency }: NewMessage): Promise<Outcome | undefined> {
    const [use] = idempotency ? await findKeyUses(db, [{ accountId, ...idempotency }]) : []
    return use && { outcome: 'replayed', use }
  }

  function findFault({ accountId, sender }: NewMessage): AppError | undefined {
    if (!backlogs.isFull(accountId, sender)) return undefined
    return queueFull('Too many messages wait for this sender. Try again later.')
  }

  /** Megabytes in one row would hold the others of a batch up. */
  async function settleAlone(arrival: Arrival): Promise<Outcome | undefined> {
    await pauseForOthers(arrival.message.media?.base64.length ?? 0)
    const [outcome] = await settle([arrival])
    const { accountId } = arrival.message
    if (outcome?.outcome !== 'media_full' || cleaned.has(accountId)) return outcome
    cleaned.set(accountId, true)
    return (await deleteEndedMedia(db, accountId)) ? (await settle([arrival]))[0] : outcome
  }

  return {
    async accept(message, deadline, fault = findFault(message)) {
      if (fault) {
        const repeated = await findRepeated(message)
        if (!repeated) throw fault
        return toAccepted(message, repeated)
      }
      const arrival = { message, deadline }
      const outcome = message.media ? await settleAlone(arrival) : await batch.add(arrival)
      const accepted = toAccepted(message, outcome)
      if (!accepted.isReplay) {
        backlogs.note(message.accountId, message.sender, accepted.deviceId)
        command({ kind: 'send', deviceId: accepted.deviceId })
      }
      return accepted
    },
  }
}

function queueFull(sentence: string): AppError {
  return new AppError('queue_full', sentence, { retryAfterSeconds: 10 })
}

function toAccepted(message: NewMessage, outcome: Outcome | undefined): Accepted {
  switch (outcome?.outcome) {
    case 'accepted': {
      const status = message.sendAt === null ? 'queued' : 'scheduled'
      const { deviceId, away } = outcome
      return { messageId: message.id, deviceId, status, isReplay: false, away }
    }
    case 'replayed': {
      const { payloadHash, messageId, deviceId, status } = outcome.use
      if (payloadHash !== message.idempotency?.payloadHash) throw idempotencyKeyReused()
      return { messageId, deviceId, status, isReplay: true, away: null }
    }
    case 'sender_not_found':
      throw senderNotFound()
    case 'sender_not_connected':
      throw senderNotConnected()
    case 'sender_blocked':
      throw senderBlocked(outcome.reason)
    case 'media_full':
      throw queueFull(
        'Too many bytes of data: URLs wait for this account. Try again later, or give an http(s) URL.',
      )
    case 'failed':
      throw outcome.error
    default:
      throw new AppError('unavailable', 'The idempotency key is in use at this moment. Try again.', {
        retryAfterSeconds: 1,
      })
  }
}
