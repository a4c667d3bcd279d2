import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import type { System } from '@wagate/test-kit/system'

export type Account = { db: Database; accountId: number }

/** Runs the work with the database of a system and the account whose key its gateway has. */
export async function withAdminAccount<Result>(
  { devnet, gateway }: System,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  const db = openDatabase(devnet.databaseUrl, {
    poolSize: 4,
    applicationName: 'wagate-bench',
    statementTimeoutMs: 30_000,
  })
  try {
    const { body } = await gateway.call('user-info', {})
    return await work({ db, accountId: Number(body.id) })
  } finally {
    await closeDatabase(db)
  }
}
