import type { EventPosition } from '@wagate/shared/event-ids'
import { makeMessageId } from '@wagate/shared/ids'
import { until } from '@wagate/test-kit/until'
import { expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { findLatestPosition, listEvents } from '../src/queries/events/event-feed.ts'
import { listUpdatedMessages } from '../src/queries/events/updated-messages.ts'
import { listDueWebhooks } from '../src/queries/webhooks/webhook-rounds.ts'
import { CrashingPostgres, losses } from './crashing-postgres.ts'

const accountId = 1

async function insertEvents(db: Database, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const id = makeMessageId('1')
    ids.push(id)
    await db.$client`
      WITH message AS (
        INSERT INTO messages (
          id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation, created_at
        )
        VALUES (
          ${id}, ${accountId}, 1, 'out', 'text', '1', '2', 'x', 'queued', ${id}, 1,
          -- Pages are ordered by the millisecond, and two messages may have the same.
          now() + ${at}::int * interval '1 millisecond'
        )
        RETURNING id
      )
      INSERT INTO events (account_id, device_id, type, message_id) SELECT ${accountId}, 1, 1, id FROM message`
  }
  return ids
}

/** Transactions of which a crash leaves no trace: their ids may be used again. */
async function useIds({ db, lazyDb }: CrashingPostgres): Promise<void> {
  for (let count = 0; count < 50; count++)
    await lazyDb.$client`UPDATE installation SET retention_days = ${count}`
  await db.$client
    .begin(async (sql) => {
      await sql`UPDATE installation SET retention_days = 0`
      throw new Error('rolled back')
    })
    .catch(() => undefined)
}

async function readOn(db: Database, after: EventPosition) {
  const { events, next } = await listEvents(db, accountId, { after, limit: 100 })
  return { ids: events.map(({ messageId }) => messageId), next }
}

/** How those that read get a position, and what they find from there. */
const readers: {
  [name: string]: {
    locate(db: Database, read: EventPosition): Promise<EventPosition>
    find(db: Database, after: EventPosition): Promise<(string | null)[]>
  }
} = {
  'a page of events': {
    locate: async (db, read) => (await readOn(db, read)).next,
    find: async (db, after) => (await readOn(db, after)).ids,
  },
  'a page of updated messages': {
    locate: async (db, read) => (await listUpdatedMessages(db, accountId, { after: read, limit: 100 })).next,
    find: async (db, after) => {
      const { messages } = await listUpdatedMessages(db, accountId, { after, limit: 100 })
      return messages.map(({ id }) => id).toReversed()
    },
  },
  'a new subscriber': {
    locate: (db) => findLatestPosition(db),
    find: async (db, after) => (await readOn(db, after)).ids,
  },
  'a dispatcher': {
    locate: async (db, read) => (await readOn(db, read)).next,
    async find(db, position) {
      const [due] = await listDueWebhooks(db, [{ webhookId: 1, accountId, position }])
      return due?.hasEvents ? (await readOn(db, position)).ids : []
    },
  },
}

test.each(Object.entries(losses))(
  'no reader skips an event after %s',
  async (_, prepare) => {
    const server = new CrashingPostgres()
    await server.start('main')
    await server.migrate()
    await insertEvents(server.db, 3)
    const strike = await prepare(server)
    // A copy and a standby never have it.
    await insertEvents(server.db, 1)
    await useIds(server)
    const first = await findLatestPosition(server.db)
    const positions = new Map<string, EventPosition>()
    for (const [name, { locate }] of Object.entries(readers))
      positions.set(name, await locate(server.db, first))

    // The number of an epoch is the second in which it began: none is restored within one.
    await until('the second is over', () => Date.now() / 1000 > first.epoch + 1)
    await strike()
    const reused = await findLatestPosition(server.db)
    expect(BigInt(reused.tx)).toBeLessThan(BigInt(first.tx))
    const ids = await insertEvents(server.db, 3)
    for (const [name, { find }] of Object.entries(readers)) {
      const position = positions.get(name) ?? first
      await expect.poll(() => find(server.db, position), { message: name, timeout: 5000 }).toEqual(ids)
    }
  },
  60_000,
)
