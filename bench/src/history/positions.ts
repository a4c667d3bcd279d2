import type { Database } from '@wagate/db/client'
import { makeRandom } from '@wagate/test-kit/random'
import { accountId, contactOf, eventsMs, type Size, senderOf } from './fill.ts'

/**
 * A random message of the history with its time, a sender and a number to filter by, and a time for which changes are
 * kept.
 */
export type PagePosition = {
  id: string
  at: Date
  isNewest: boolean
  sender: string
  number: string
  changedSince: Date
}

/** One page in this many is the newest; the others begin after the message. */
const newestEvery = 5
/** Every second number is one of these. */
const busiestContacts = 10

/** The same each time, except for the ids. */
export async function pickPositions(db: Database, size: Size, count: number): Promise<PagePosition[]> {
  const random = makeRandom(1)
  const below = (limit: number) => Math.floor(random() * limit)
  const positions: PagePosition[] = []
  while (positions.length < count) {
    positions.push({
      ...(await findBefore(db, random() * size.weeks)),
      isNewest: below(newestEvery) === 0,
      sender: senderOf(1 + below(size.senders)),
      number: contactOf(below(below(2) === 0 ? busiestContacts : size.contacts)),
      changedSince: new Date(Date.now() - random() * eventsMs),
    })
  }
  return positions
}

async function findBefore(db: Database, weeksAgo: number): Promise<Pick<PagePosition, 'id' | 'at'>> {
  const [message] = await db.$client<{ id: string; at: string }[]>`
    SELECT id, created_at::text AS at FROM messages
    WHERE account_id = ${accountId} AND created_at <= now() - ${weeksAgo}::float8 * interval '1 week'
    ORDER BY created_at DESC, id DESC LIMIT 1`
  if (!message) throw new Error(`There is no message from ${weeksAgo} weeks ago`)
  return { id: message.id, at: new Date(message.at) }
}
