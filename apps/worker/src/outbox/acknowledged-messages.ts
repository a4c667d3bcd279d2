import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { MessageResults } from './message-results.ts'
import type { WaitingList } from './waiting-list.ts'

/** Messages that WhatsApp has acknowledged but that are not recorded yet: they must be neither read nor sent again. */
export type AcknowledgedMessages = {
  has(message: WaitingMessage): boolean
  /** Records in the background that it is sent. The recipient's next message does not wait for this. */
  add(message: WaitingMessage): void
  /** Resolves when all of them are recorded. */
  untilRecorded(): Promise<unknown>
}

export function makeAcknowledgedMessages(
  results: Pick<MessageResults, 'recordSent'>,
  waiting: Pick<WaitingList, 'remove'>,
): AcknowledgedMessages {
  const ids = new Set<string>()
  const recordings = new Set<Promise<void>>()
  return {
    has: ({ id }) => ids.has(id),
    add(message) {
      ids.add(message.id)
      const recording = results.recordSent(message).then(() => {
        waiting.remove(message)
        ids.delete(message.id)
        recordings.delete(recording)
      })
      recordings.add(recording)
    },
    untilRecorded: () => Promise.allSettled(recordings),
  }
}
