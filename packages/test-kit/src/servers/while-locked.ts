import type { Database } from '@wagate/db/client'

/** Below the silence after which a connection is closed, which would end the lock. */
const talkEveryMs = 1000

/** Runs `work` while a transaction holds a lock, such as `messages IN SHARE ROW EXCLUSIVE MODE`. */
export async function whileLocked(db: Database, lock: string, work: () => Promise<void>): Promise<void> {
  await db.$client.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`
    await holder.unsafe(`LOCK TABLE ${lock}`)
    const talking = setInterval(() => void holder`SELECT 1`.catch(() => undefined), talkEveryMs)
    await work().finally(() => clearInterval(talking))
  })
}
