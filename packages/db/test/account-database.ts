import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { insertAccount } from '../src/queries/accounts/accounts.ts'

type AccountDatabase = { db: Database; url: string; accountId: number; drop(): Promise<void> }

/** Opens a new database with one account that may have 1,000 devices. */
export async function openAccountDatabase({ poolSize = 4, isWeekly = false } = {}): Promise<AccountDatabase> {
  const database = await createTestDatabase({ isWeekly })
  const db = openDatabase(database.url, { poolSize, applicationName: 'test', statementTimeoutMs: 5000 })
  const account = await insertAccount(db, {
    email: 'a@example.com',
    passwordHash: '',
    role: 'USER',
    devicesAllowed: 1000,
    expiresAt: null,
    key: { name: 'k', hash: Buffer.from('hash'), lastFour: 'hash' },
  })
  return {
    db,
    url: database.url,
    accountId: account?.id ?? 0,
    async drop() {
      await closeDatabase(db)
      await database.drop()
    },
  }
}
