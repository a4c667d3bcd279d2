import type { Database } from '../client.ts'
import { messages } from '../schema/messages.ts'
import { receivedMedia } from '../schema/received-media.ts'
import { type HistoryMessage, historyColumns, isMessage, mediaOfMessage } from './message-history.ts'

export type TimedMessage = HistoryMessage & {
  /** How often it was claimed to be sent. */
  attempts: number
  /** See `parseTimeline`. */
  timeline: Buffer | null
}

export async function findTimedMessage(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<TimedMessage | undefined> {
  const [message] = await db
    .select({ ...historyColumns, attempts: messages.attempts, timeline: messages.timeline })
    .from(messages)
    .leftJoin(receivedMedia, mediaOfMessage)
    .where(isMessage(accountId, messageId))
  return message
}
