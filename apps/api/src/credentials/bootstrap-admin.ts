import { randomBytes } from 'node:crypto'
import { closeDatabase, openDatabase, type Transaction } from '@wagate/db/client'
import { insertAccount, insertFirstAdmin, type NewAccount } from '@wagate/db/queries/accounts'
import { insertAuditEntry } from '@wagate/db/queries/audit-log'
import { makeNewKey } from './new-key.ts'
import { hashPassword } from './passwords.ts'

const devicesAllowed = 1000

/**
 * The first ADMIN; undefined when there is one already. Several processes may call it at once. `hand` gives the key
 * to the operator: when it rejects, there is no new ADMIN.
 */
export function bootstrapAdmin(
  databaseUrl: string,
  email: string,
  hand?: (apiKey: string) => Promise<void>,
): Promise<{ apiKey: string } | undefined> {
  return withNewAdmin(databaseUrl, email, async (tx, account, apiKey) => {
    const admin = await insertFirstAdmin(tx, account)
    if (admin) await hand?.(apiKey)
    return admin
  })
}

/** One more ADMIN; undefined when the email is taken. */
export function createAdmin(databaseUrl: string, email: string): Promise<{ apiKey: string } | undefined> {
  return withNewAdmin(databaseUrl, email, insertAccount)
}

async function withNewAdmin(
  databaseUrl: string,
  email: string,
  insert: (tx: Transaction, account: NewAccount, apiKey: string) => Promise<{ id: number } | undefined>,
): Promise<{ apiKey: string } | undefined> {
  const db = openDatabase(databaseUrl, {
    poolSize: 1,
    applicationName: 'wagate-admin',
    statementTimeoutMs: 10_000,
  })
  try {
    const { apiKey, key } = makeNewKey()
    // Nobody needs a password: the key is enough.
    const passwordHash = await hashPassword(randomBytes(24).toString('base64'))
    const account = { email: email.trim().toLowerCase(), role: 'ADMIN' as const, expiresAt: null }
    const created = await db.transaction(async (tx) => {
      const admin = await insert(tx, { ...account, passwordHash, devicesAllowed, key }, apiKey)
      if (admin) {
        await insertAuditEntry(tx, {
          operation: 'create-admin',
          target: `account:${admin.id}`,
          result: 'created',
        })
      }
      return admin
    })
    return created && { apiKey }
  } finally {
    await closeDatabase(db)
  }
}
