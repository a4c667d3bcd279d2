import { closeDatabase, openDatabase } from '@wagate/db/client'
import { vi } from 'vitest'
import type { Gateway } from './gateway.ts'

/**
 * Runs requests that access the rows of `hold` at the same moment: the rows stay locked until `waiting` requests wait
 * for them.
 */
export async function atOnce<Result>(
  { databaseUrl }: Gateway,
  { hold, waiting }: { hold: string; waiting: number },
  run: () => Promise<Result>,
): Promise<Result> {
  const db = openDatabase(databaseUrl, { poolSize: 2, applicationName: 'hold', statementTimeoutMs: 10_000 })
  try {
    let running: Promise<Result> | undefined
    await db.$client.begin(async (sql) => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
      await sql.unsafe(`${hold} FOR UPDATE`)
      running = run()
      await vi.waitFor(
        async () => {
          const blocked = await db.$client`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
          if (blocked.length < waiting) throw new Error(`${blocked.length} requests are held`)
        },
        // Below the statement timeout of the API.
        { timeout: 2500, interval: 10 },
      )
    })
    return await (running as Promise<Result>)
  } finally {
    await closeDatabase(db)
  }
}
