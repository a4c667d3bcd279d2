import { type Setback, setbackMarks } from '@wagate/shared/timeline-marks'
import type { Database } from '../../client.ts'
import { type Fence, fencesOf, leaseColumns } from '../statements/fence.ts'
import { rows } from '../statements/rows.ts'
import { withEntry } from './timeline-entries.ts'

export type SetbackNote = {
  fence: Fence
  id: string
  createdAt: string
  setback: Setback
  /** The reason, for a person. */
  sentence: string
  /** Until its next attempt. */
  pauseMs: number
  /** The reason is its own, not that of its connection. */
  isFailing: boolean
}

/** Stores why messages have to be sent again. Leaves out those that have ended, and those of another owner. */
export async function storeSetbacks(db: Database, notes: SetbackNote[]): Promise<void> {
  const sql = db.$client
  await sql`
    WITH valid AS (${fencesOf(
      sql,
      notes.map(({ fence }) => fence),
    )})
    UPDATE messages AS message SET
      setback = given.sentence, retry_at = now() + given.pause_ms * interval '1 ms',
      failing_since = CASE WHEN given.is_failing = 1 THEN coalesce(message.failing_since, now()) ELSE message.failing_since END,
      timeline = ${sql.unsafe(withEntry('message', { sql: 'given.mark' }))}
    FROM valid JOIN ${rows(sql, 'given', notes, {
      ...leaseColumns,
      id: ['uuid', ({ id }) => id],
      created_at: ['text', ({ createdAt }) => createdAt],
      mark: ['int', ({ setback }) => setbackMarks[setback]],
      sentence: ['text', ({ sentence }) => sentence],
      pause_ms: ['int', ({ pauseMs }) => Math.round(pauseMs)],
      is_failing: ['int', ({ isFailing }) => Number(isFailing)],
    })} USING (shard, epoch)
    WHERE message.id = given.id AND message.created_at = given.created_at::timestamptz
      AND message.is_waiting`
}
