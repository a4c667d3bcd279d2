import type { Database } from '../client.ts'
import { messages } from '../schema/messages.ts'
import { type HistoryMessage, historyColumns, isMessage } from './message-history.ts'

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
    .where(isMessage(accountId, messageId))
  return message
}
