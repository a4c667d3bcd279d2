import type { Role } from '@wagate/shared/statuses'
import { eq, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { accounts, apiKeys, devices } from '../schema.ts'
import { inAccount } from './devices.ts'

export type NewAccount = {
  email: string
  passwordHash: string
  role: Role
  devicesAllowed: number
  expiresAt: Date | null
  key: { name: string; hash: Buffer; lastFour: string }
}

/** The account and its first key. Undefined when the email is taken. */
export async function insertAccount(
  db: Pick<Database, 'transaction'>,
  { key, ...account }: NewAccount,
): Promise<{ id: number } | undefined> {
  return db.transaction(async (tx) => {
    const [created] = await tx
      .insert(accounts)
      .values(account)
      .onConflictDoNothing({ target: accounts.email })
      .returning({ id: accounts.id })
    if (created) await tx.insert(apiKeys).values({ ...key, accountId: created.id })
    return created
  })
}

const bootstrapLock = 7_767_429

/** Undefined when an ADMIN exists or the email is taken. Several processes may call it at once. */
export async function insertFirstAdmin(
  db: Database,
  account: Omit<NewAccount, 'role'>,
): Promise<{ id: number } | undefined> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`SELECT pg_advisory_xact_lock(${bootstrapLock})`)
    const [admin] = await tx
      .select({ id: accounts.id })
      .from(accounts)
      .where(eq(accounts.role, 'ADMIN'))
      .limit(1)
    if (admin) return undefined
    return insertAccount(tx, { ...account, role: 'ADMIN' })
  })
}

export type AccountInfo = {
  id: number
  email: string
  role: Role
  devicesUsed: number
  devicesAllowed: number
  expiresAt: Date | null
}

export async function findAccountInfo(db: Database, accountId: number): Promise<AccountInfo | undefined> {
  const [account] = await db
    .select({
      id: accounts.id,
      email: accounts.email,
      role: accounts.role,
      devicesUsed: db.$count(devices, inAccount(accountId)),
      devicesAllowed: accounts.devicesAllowed,
      expiresAt: accounts.expiresAt,
    })
    .from(accounts)
    .where(eq(accounts.id, accountId))
  return account
}
