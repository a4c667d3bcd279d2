import type { Database } from '../../client.ts'
import { rows } from '../statements/rows.ts'

/** The ids of those that no longer wait: they were canceled, have expired, or were sent after all. */
export async function findEnded(
  db: Database,
  messages: { id: string; createdAt: string }[],
): Promise<string[]> {
  const sql = db.$client
  const ended = await sql<{ id: string }[]>`
    SELECT message.id FROM ${rows(sql, 'given', messages, {
      id: ['uuid', ({ id }) => id],
      created_at: ['text', ({ createdAt }) => createdAt],
    })}
    JOIN messages AS message ON message.id = given.id AND message.created_at = given.created_at::timestamptz
    WHERE NOT message.is_waiting`
  return ended.map(({ id }) => id)
}
