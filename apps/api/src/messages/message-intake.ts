import { randomUUID } from 'node:crypto'
import type { Database } from '@wagate/db/client'
import type { Away, NewMessage } from '@wagate/db/queries/accept-messages'
import { findKeyUses } from '@wagate/db/queries/message-key-uses'
import {
  deleteEndedMedia,
  deleteMediaParts,
  hasRoomForMedia,
  storeMediaPart,
} from '@wagate/db/queries/waiting-media'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import type { MessageStatus } from '@wagate/shared/statuses'
import { LRUCache } from 'lru-cache'
import { idempotencyKeyReused } from '../changes/idempotency-key.ts'
import type { Commander } from '../devices/command-dispatcher.ts'
import { AppError } from '../errors/app-error.ts'
import type { Deadline } from '../http/deadline.ts'
import { slicesInTurn } from '../http/in-slices.ts'
import type { InlineFile } from '../media/parse-media-url.ts'
import type { Backlogs } from './backlogs.ts'
import { senderBlocked, senderNotConnected, senderNotFound } from './sender-errors.ts'
import { type Arrival, type Outcome, settleArrivals } from './store-messages.ts'

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
  accept(message: NewMessage, deadline: Deadline, given: Given): Promise<Accepted>
}

type Given = { file: InlineFile | null; fault: AppError | undefined }

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

  async function findRoomFault(
    { accountId }: NewMessage,
    { bytes }: InlineFile,
  ): Promise<AppError | undefined> {
    const hasRoom = () => hasRoomForMedia(db, { accountId, bytes, bytesMax: mediaBytesMax })
    if (await hasRoom()) return undefined
    if (cleaned.has(accountId)) return mediaFull()
    cleaned.set(accountId, true)
    return (await deleteEndedMedia(db, accountId)) && (await hasRoom()) ? undefined : mediaFull()
  }

  /** Alone: megabytes in one row would hold the others of a batch up. */
  async function settleWithFile(
    message: NewMessage,
    { mime, bytes, base64 }: InlineFile,
    deadline: Deadline,
  ): Promise<Outcome | undefined> {
    const upload = { accountId: message.accountId, uploadId: randomUUID() }
    try {
      let position = 0
      for await (const slice of slicesInTurn(base64)) {
        deadline.signal.throwIfAborted()
        await storeMediaPart(db, { ...upload, position: position++, base64: slice })
      }
      const media = { mime, bytes, uploadId: upload.uploadId }
      const [outcome] = await settle([{ message: { ...message, media }, deadline }])
      return outcome
    } finally {
      // Nobody waits for it: what is left behind is found by the housekeeping.
      deleteMediaParts(db, upload).catch(() => undefined)
    }
  }

  return {
    async accept(message, deadline, { file, fault = findFault(message) }) {
      const refusal = fault ?? (file ? await findRoomFault(message, file) : undefined)
      const repeated = refusal || file ? await findRepeated(message) : undefined
      if (repeated) return toAccepted(message, repeated)
      if (refusal) throw refusal
      const outcome = file
        ? await settleWithFile(message, file, deadline)
        : await batch.add({ message, deadline })
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

function mediaFull(): AppError {
  return queueFull(
    'Too many bytes of data: URLs wait for this account. Try again later, or give an http(s) URL.',
  )
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
      throw mediaFull()
    case 'media_lost':
      throw new AppError('unavailable', 'The file could not be stored at this moment. Try again.', {
        retryAfterSeconds: 1,
      })
    case 'failed':
      throw outcome.error
    default:
      throw new AppError('unavailable', 'The idempotency key is in use at this moment. Try again.', {
        retryAfterSeconds: 1,
      })
  }
}
