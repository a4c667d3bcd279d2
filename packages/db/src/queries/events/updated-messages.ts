import { lidKey } from '@wagate/shared/contact-key'
import type { EventPosition } from '@wagate/shared/event-ids'
import type { MessageRow } from '@wagate/shared/objects/message-object'
import { isSameSubscriber } from '@wagate/shared/phone'
import type { Database } from '../../client.ts'
import type { HistoryFilter } from '../messages/history-filter.ts'
import { listEvents } from './event-feed.ts'

/** `messages`: newest first. `next`: where the next page begins. `hasMore`: it may have messages already. */
export type UpdatedPage = { messages: MessageRow[]; next: EventPosition; hasMore: boolean }

/**
 * The messages that have an event after this position, as they are now, each once on a page. A page reads `limit` events,
 * so with a filter it may have fewer messages, or none, and still more may follow.
 */
export async function listUpdatedMessages(
  db: Database,
  accountId: number,
  { after, limit, ...filter }: HistoryFilter & { after: EventPosition; limit: number },
): Promise<UpdatedPage> {
  const { events, next, hasMore } = await listEvents(db, accountId, { after, limit })
  const messages = new Map(events.flatMap(({ message }) => (message ? [[message.id, message]] : [])))
  return {
    messages: [...messages.values()].filter((message) => matches(message, filter)).sort(byAge),
    next,
    hasMore,
  }
}

function matches(message: MessageRow, filter: HistoryFilter): boolean {
  const { sender, number, lid, contactKey, from, to, ...fields } = filter
  const { createdAt, contactJid } = message
  const isEqual = (name: keyof typeof fields) => fields[name] === undefined || fields[name] === message[name]
  return (
    (['direction', 'type', 'status', 'reference'] as const).every(isEqual) &&
    (sender === undefined || isSameSubscriber(sender, message.sender)) &&
    (number === undefined || isSameSubscriber(number, message.number)) &&
    (lid === undefined ||
      contactJid === lidKey(lid) ||
      isSameSubscriber(contactKey ?? lidKey(lid), message.number)) &&
    (from === undefined || createdAt >= from) &&
    (to === undefined || createdAt < to)
  )
}

function byAge(one: MessageRow, other: MessageRow): number {
  return other.createdAt.getTime() - one.createdAt.getTime() || (other.id < one.id ? -1 : 1)
}
