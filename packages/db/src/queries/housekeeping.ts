import type { Database } from '../client.ts'
import { dropOldMessagePartitions, ensureMessagePartitions } from './partitions.ts'

const advisoryLock = 7_767_429

export type Housekeeping = { droppedPartitions: string[] }

/**
 * What has to be done now and then by anyone: partitions ahead, retention, what has expired. Undefined when
 * somebody else is at it.
 */
export async function keepHouse(
  db: Database,
  options: { retentionDays: number },
): Promise<Housekeeping | undefined> {
  return db.$client.begin(async (sql) => {
    const [lock] = await sql<{ isHeld: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS "isHeld"`
    if (!lock?.isHeld) return undefined
    await ensureMessagePartitions(sql)
    const droppedPartitions = await dropOldMessagePartitions(sql, options.retentionDays)
    await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`
    await sql`DELETE FROM audit_log WHERE created_at < now() - ${options.retentionDays} * interval '1 day'`
    // Media of messages that were sent are deleted with their upload; these belong to what failed or was canceled.
    await sql`
      DELETE FROM media_blobs AS blob WHERE created_at < now() - interval '1 hour' AND NOT EXISTS (
        SELECT 1 FROM messages WHERE id = blob.message_id AND is_waiting)`
    return { droppedPartitions }
  })
}
