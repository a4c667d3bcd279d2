import type { Role } from '@wagate/shared/statuses'
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { isTaken } from '../../failures.ts'
import { advisoryLocks } from '../../locks.ts'
import { accounts, apiKeys } from '../../schema/accounts.ts'
import type { NewKey } from './api-keys.ts'

export type NewAccount = {
  email: string
  passwordHash: string
  role: Role
  devicesAllowed: number
  expiresAt: Date | null
  key: NewKey
}

/** Inserts the account and its first key. Undefined when the email is in use. */
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

/** Undefined when an ADMIN exists or the email is in use. Safe to call from several processes at the same time. */
export async function insertFirstAdmin(
  db: Pick<Database, 'transaction'>,
  account: Omit<NewAccount, 'role'>,
): Promise<{ id: number } | undefined> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`SELECT pg_advisory_xact_lock(${advisoryLocks.firstAdmin})`)
    const [admin] = await tx
      .select({ id: accounts.id })
      .from(accounts)
      .where(eq(accounts.role, 'ADMIN'))
      .limit(1)
    if (admin) return undefined
    return insertAccount(tx, { ...account, role: 'ADMIN' })
  })
}

export type AccountInfo = Omit<typeof accounts.$inferSelect, 'passwordHash'> & { devicesUsed: number }

const { passwordHash: _secret, ...columns } = getTableColumns(accounts)
const info = {
  ...columns,
  // Without schema objects: drizzle omits table names in a query of one table.
  devicesUsed: sql<number>`(SELECT count(*)::int FROM devices WHERE devices.account_id = accounts.id AND devices.deleted_at IS NULL)`,
}

export async function findAccountInfo(
  db: Pick<Database, 'select'>,
  accountId: number,
): Promise<AccountInfo | undefined> {
  const [account] = await db.select(info).from(accounts).where(eq(accounts.id, accountId))
  return account
}

/** False for an account that does not exist. */
export async function isAccountEnabled(db: Pick<Database, 'select'>, accountId: number): Promise<boolean> {
  const [account] = await db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), isNull(accounts.disabledAt)))
  return account !== undefined
}

export const accountStatuses = ['active', 'disabled', 'expired'] as const
type AccountStatus = (typeof accountStatuses)[number]

/** `email`: a part of the address. */
export type AccountFilter = { email?: string | undefined; status?: AccountStatus | undefined }

const isExpired = lte(accounts.expiresAt, sql`now()`)

/** One that is disabled and has expired counts as disabled. */
const hasStatus: Record<AccountStatus, SQL | undefined> = {
  active: isActive(),
  disabled: isNotNull(accounts.disabledAt),
  expired: and(isNull(accounts.disabledAt), isExpired),
}

/** Neither disabled nor expired. */
function isActive(): SQL | undefined {
  return and(isNull(accounts.disabledAt), or(isNull(accounts.expiresAt), gt(accounts.expiresAt, sql`now()`)))
}

/** Newest first. For ADMINs only: it includes every account. */
export async function listAccounts(
  db: Database,
  { before, email, status, limit }: AccountFilter & { before: number | undefined; limit: number },
): Promise<AccountInfo[]> {
  return db
    .select(info)
    .from(accounts)
    .where(
      and(
        before === undefined ? undefined : lt(accounts.id, before),
        email === undefined ? undefined : sql`position(${email.toLowerCase()} IN ${accounts.email}) > 0`,
        status && hasStatus[status],
      ),
    )
    .orderBy(desc(accounts.id))
    .limit(limit)
}

/** What a password is compared with. */
export type PasswordHolder = Pick<
  typeof accounts.$inferSelect,
  'id' | 'email' | 'passwordHash' | 'disabledAt'
>

const passwordHolder = {
  id: accounts.id,
  email: accounts.email,
  passwordHash: accounts.passwordHash,
  disabledAt: accounts.disabledAt,
}

export async function findPasswordHolder(
  db: Pick<Database, 'select'>,
  whose: { email: string } | { id: number },
): Promise<PasswordHolder | undefined> {
  const [account] = await db.select(passwordHolder).from(accounts).where(isOf(whose))
  return account
}

const isOf = (whose: { email: string } | { id: number }): SQL =>
  'id' in whose ? eq(accounts.id, whose.id) : eq(accounts.email, whose.email)

/** As above. `isKnownNetwork`: somebody has signed in from there. */
export async function findPasswordHolderFrom(
  db: Pick<Database, 'select'>,
  whose: { email: string } | { id: number },
  network: string,
): Promise<(PasswordHolder & { isKnownNetwork: boolean }) | undefined> {
  // Without schema objects: drizzle omits table names in a query of one table.
  const isKnownNetwork = sql<boolean>`EXISTS (SELECT FROM sessions WHERE sessions.account_id = accounts.id AND sessions.network = ${network})`
  const [account] = await db
    .select({ ...passwordHolder, isKnownNetwork })
    .from(accounts)
    .where(isOf(whose))
  return account
}

/** As the first, and nothing of the account can change until the transaction ends. Locked before all that belongs to the account. */
export async function lockPasswordHolder(
  tx: Transaction,
  accountId: number,
): Promise<PasswordHolder | undefined> {
  const isTheirs = eq(accounts.id, accountId)
  const [account] = await tx.select(passwordHolder).from(accounts).where(isTheirs).for('no key update')
  return account
}

export async function setPassword(tx: Transaction, accountId: number, passwordHash: string): Promise<void> {
  await tx.update(accounts).set({ passwordHash }).where(eq(accounts.id, accountId))
}

/** False when another account has the address: the transaction has failed then, and must be rolled back. */
export async function setEmail(tx: Transaction, accountId: number, email: string): Promise<boolean> {
  try {
    await tx.update(accounts).set({ email }).where(eq(accounts.id, accountId))
    return true
  } catch (error) {
    // No look-up before it would see an account that takes the address at the same moment.
    if (isTaken(error, 'accounts_email')) return false
    throw error
  }
}

/** Omitted fields stay. A null pace returns to the default of the environment. */
export type AccountChanges = {
  role?: Role | undefined
  devicesAllowed?: number | undefined
  expiresAt?: Date | null | undefined
  isDisabled?: boolean | undefined
  ratePerMinute?: number | null | undefined
  burst?: number | null | undefined
  dailyCap?: number | null | undefined
  newContactsPerDay?: number | null | undefined
}

/** Needs at least one change. `last_admin` when no active ADMIN would be left. Undefined when there is no such account. */
export async function updateAccount(
  tx: Transaction,
  accountId: number,
  { isDisabled, ...changes }: AccountChanges,
): Promise<AccountInfo | 'last_admin' | undefined> {
  // Locked in one order, so that two ADMINs who demote each other wait for each other.
  const acting = await tx
    .select({ id: accounts.id, role: accounts.role, expiresAt: accounts.expiresAt })
    .from(accounts)
    .where(and(eq(accounts.role, 'ADMIN'), isActive()))
    .orderBy(asc(accounts.id))
    .for('no key update')
  const staysActive = (admin: { role: Role; expiresAt: Date | null }) => {
    const expiresAt = changes.expiresAt === undefined ? admin.expiresAt : changes.expiresAt
    const isAdmin = (changes.role ?? admin.role) === 'ADMIN'
    return isAdmin && !isDisabled && (!expiresAt || expiresAt.getTime() > Date.now())
  }
  const left = acting.filter((admin) => admin.id !== accountId || staysActive(admin))
  if (acting.length > 0 && left.length === 0) return 'last_admin'
  const disabling = isDisabled ? sql`coalesce(${accounts.disabledAt}, now())` : null
  await tx
    .update(accounts)
    .set({ ...changes, ...(isDisabled !== undefined && { disabledAt: disabling }) })
    .where(eq(accounts.id, accountId))
  return findAccountInfo(tx, accountId)
}
