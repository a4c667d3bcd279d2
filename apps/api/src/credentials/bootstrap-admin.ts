import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { closeDatabase, openDatabase, type Transaction } from '@wagate/db/client'
import { insertAccount, insertFirstAdmin, type NewAccount } from '@wagate/db/queries/accounts/accounts'
import { insertAuditEntry } from '@wagate/db/queries/accounts/audit-log'
import { makeNewKey } from './api-key.ts'
import { hashPassword } from './passwords.ts'

const devicesAllowed = 1000

/**
 * Creates the first ADMIN; undefined if one exists. Several processes may call it at the same time. `deliver` gives the key to the
 * operator: if it rejects, no ADMIN is created.
 */
export function bootstrapAdmin(
  databaseUrl: string,
  email: string,
  deliver?: (apiKey: string) => Promise<void>,
): Promise<{ apiKey: string } | undefined> {
  return withNewAdmin(databaseUrl, email, async (tx, account, apiKey) => {
    const admin = await insertFirstAdmin(tx, account)
    if (admin) await deliver?.(apiKey)
    return admin
  })
}

/** Creates a further ADMIN; undefined if the email is taken. */
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
    // Random and never shown, because the API key is the only credential in use.
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

/**
 * Gives the operator the key of the first ADMIN: in a file that only this user may read, or on a terminal. Standard
 * output that is not a terminal is likely to be logged.
 */
export async function deliverKey(apiKey: string, file: string | undefined): Promise<void> {
  if (file !== undefined) {
    await writeFile(file, `${apiKey}\n`, { mode: 0o600, flag: 'wx' })
  } else if (process.stdout.isTTY) {
    process.stdout.write(`API key of the first ADMIN, not shown again: ${apiKey}\n`)
  } else {
    throw new Error(
      'BOOTSTRAP_ADMIN_EMAIL requires BOOTSTRAP_KEY_FILE: the path of a new file for the API key',
    )
  }
}
