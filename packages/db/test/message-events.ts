import { eventTypeOf } from '@wagate/shared/event-types'
import type { Database } from '../src/client.ts'

/** The types of a message's events in their order, each with the time of the thing if it has one. */
export async function listMessageEvents(db: Database, messageId: string): Promise<string[]> {
  const events = await db.$client<{ type: number; at: string | null }[]>`
    SELECT type, at::text FROM events WHERE message_id = ${messageId} ORDER BY epoch, tx, id`
  return events.map(({ type, at }) => [eventTypeOf(type), ...(at === null ? [] : [at])].join(' '))
}
