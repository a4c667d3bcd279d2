import type { Database } from '@wagate/db/client'
import type { NewMessage } from '@wagate/db/queries/messages/accept-messages'
import { findKeyUses } from '@wagate/db/queries/messages/message-key-uses'
import type { EventHints } from '@wagate/queue/event-hints'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { normalPriority } from '@wagate/shared/priorities'
import { LRUCache } from 'lru-cache'
import type { CommandDispatcher } from '../devices/command-dispatcher.ts'
import type { AppError } from '../errors/app-error.ts'
import type { Deadline } from '../http/deadline.ts'
import type { InlineFile } from '../media/parse-media-url.ts'
import { type AcceptedMessage, toAcceptedMessage } from './accepted-message.ts'
import type { Backlogs } from './backlogs.ts'
import { makeInlineMedia } from './inline-media.ts'
import { queueFull } from './send-errors.ts'
import { type StoreRequest, type StoreResult, storeMessages } from './store-messages.ts'

export type MessageIntake = {
  /**
   * Stores an outgoing message and notifies its owner. Throws AppErrors about the sender, its queue and the idempotency
   * key. Throws `fault` too, unless the message replays an accepted one.
   */
  accept(message: NewMessage, deadline: Deadline, extras: IntakeExtras): Promise<AcceptedMessage>
}

type IntakeExtras = { file: InlineFile | null; fault: AppError | undefined }

type Options = {
  backlogs: Backlogs
  enqueueCommand: CommandDispatcher['enqueue']
  publishEventHint: EventHints['publish']
  mediaBytesMax: number
}

export function makeMessageIntake(
  db: Database,
  { backlogs, enqueueCommand, publishEventHint, mediaBytesMax }: Options,
): MessageIntake {
  const store = (requests: StoreRequest[]) => storeMessages(db, requests, { mediaBytesMax })
  const batch = makeNaturalBatch(store, {
    itemsMax: 500,
    // A statement takes 0.4 ms plus 11 µs per message, so smaller batches would mostly pay for the statement.
    wholeMax: 32,
  })
  const toldDevices = new LRUCache<number, true>({ max: 10_000 })
  const inlineMedia = makeInlineMedia(db, { bytesMax: mediaBytesMax })

  /** A request that would be refused may still be the replay of an accepted one. */
  async function findReplay({ accountId, idempotency }: NewMessage): Promise<StoreResult | undefined> {
    const [use] = idempotency ? await findKeyUses(db, [{ accountId, ...idempotency }]) : []
    return use && { outcome: 'replayed', use }
  }

  /** Its owner looks for other priorities than `normal` only once it knows of them. */
  function tellOfPriorities({ priority = normalPriority }: NewMessage, deviceId: number): void {
    if (priority === normalPriority || toldDevices.has(deviceId)) return
    toldDevices.set(deviceId, true)
    enqueueCommand({ kind: 'apply-settings', deviceId })
  }

  function findQueueFault({ accountId, sender }: NewMessage): AppError | undefined {
    if (!backlogs.isFull(accountId, sender)) return undefined
    return queueFull("This sender's queue is full. Try again later.")
  }

  /** In its own statement: megabytes in one row would delay the other messages of a batch. */
  function storeWithFile(
    message: NewMessage,
    file: InlineFile,
    deadline: Deadline,
  ): Promise<StoreResult | undefined> {
    return inlineMedia.upload(message.accountId, file, deadline, async (media) => {
      const [result] = await store([{ message: { ...message, media }, deadline }])
      return result
    })
  }

  return {
    async accept(message, deadline, { file, fault = findQueueFault(message) }) {
      const refusal = fault ?? (file ? await inlineMedia.findRoomFault(message.accountId, file) : undefined)
      const replay = refusal || file ? await findReplay(message) : undefined
      if (replay) return toAcceptedMessage(message, replay)
      if (refusal) throw refusal
      const result = file
        ? await storeWithFile(message, file, deadline)
        : await batch.add({ message, deadline })
      const accepted = toAcceptedMessage(message, result)
      if (!accepted.isReplay) {
        backlogs.note(message.accountId, message.sender, accepted.deviceId)
        tellOfPriorities(message, accepted.deviceId)
        enqueueCommand({ kind: 'send', deviceId: accepted.deviceId })
        publishEventHint(message.accountId)
      }
      return accepted
    },
  }
}
