import type { Role } from '@wagate/shared/statuses'
import { and, asc, eq, gt, inArray, isNull, lt, ne, or, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { accounts, apiKeys } from '../../schema/accounts.ts'
import { sessions } from '../../schema/sessions.ts'

/** A key with its account. */
export type KeyHolder = {
  keyId: number
  keyExpiresAt: Date | null
  accountId: number
  role: Role
  accountExpiresAt: Date | null
  /** A person who has signed in. */
  isSession?: boolean
  accountDisabledAt: Date | null
}

/** A session ends when it has not been used for this time. */
export const isAwake = gt(
  sql`coalesce(${apiKeys.lastUsedAt}, ${apiKeys.createdAt})`,
  sql`now() - interval '24 hours'`,
)

/** The map and `hashes` identify keys by SHA-256 in base64. A revoked key or an ended session is not found. */
export async function findKeyHolders(db: Database, hashes: string[]): Promise<Map<string, KeyHolder>> {
  const given = sql`(SELECT decode(given.hash, 'base64') FROM unnest(${sql.param(hashes)}::text[]) AS given (hash))`
  const rows = await db
    .select({
      hash: apiKeys.hash,
      keyId: apiKeys.id,
      keyExpiresAt: apiKeys.expiresAt,
      accountId: accounts.id,
      role: accounts.role,
      accountExpiresAt: accounts.expiresAt,
      isSession: sql<boolean>`${sessions.keyId} IS NOT NULL`,
      accountDisabledAt: accounts.disabledAt,
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(sessions, eq(sessions.keyId, apiKeys.id))
    .where(and(inArray(apiKeys.hash, given), isNull(apiKeys.revokedAt), or(isNull(sessions.keyId), isAwake)))
  return new Map(rows.map(({ hash, ...holder }) => [hash.toString('base64'), holder]))
}

/** Writes at most once a minute for all processes together. */
export async function setKeyUsed(db: Database, keyId: number): Promise<void> {
  const isOutdated = or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, sql`now() - interval '1 minute'`))
  await db
    .update(apiKeys)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(apiKeys.id, keyId), isOutdated))
}

export type NewKey = {
  name: string
  hash: Buffer
  lastFour: string
  expiresAt?: Date | null
  /** The id of the key that creates it. */
  createdBy?: number
}

/** The columns of a key that may be shown. */
export type KeyRecord = Omit<typeof apiKeys.$inferSelect, 'hash' | 'accountId'>

const shown = {
  id: apiKeys.id,
  name: apiKeys.name,
  lastFour: apiKeys.lastFour,
  createdAt: apiKeys.createdAt,
  createdBy: apiKeys.createdBy,
  expiresAt: apiKeys.expiresAt,
  lastUsedAt: apiKeys.lastUsedAt,
  revokedAt: apiKeys.revokedAt,
}

/** Sessions are keys that only cookies carry. */
// Without schema objects: drizzle omits table names in a query of one table.
const isNoSession = sql`NOT EXISTS (SELECT FROM sessions WHERE sessions.key_id = api_keys.id)`

const isUsable = and(
  isNoSession,
  isNull(apiKeys.revokedAt),
  or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
)

/** By id. `after`: only those with a higher one. */
export async function listKeys(
  db: Database,
  accountId: number,
  { after = 0, limit }: { after?: number | undefined; limit: number },
): Promise<KeyRecord[]> {
  return db
    .select(shown)
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), isNoSession, gt(apiKeys.id, after)))
    .orderBy(asc(apiKeys.id))
    .limit(limit)
}

/** Undefined when the account already has `usableMax` usable keys. */
export async function insertKey(
  tx: Transaction,
  accountId: number,
  key: NewKey,
  { usableMax }: { usableMax: number },
): Promise<KeyRecord | undefined> {
  await lockKeys(tx, accountId)
  const usable = await tx.$count(apiKeys, and(eq(apiKeys.accountId, accountId), isUsable))
  if (usable >= usableMax) return undefined
  const [created] = await tx
    .insert(apiKeys)
    .values({ ...key, accountId })
    .returning(shown)
  return created
}

/** `keepLast` refuses to revoke the last usable key of the account. Undefined when the account has no such key. */
export async function revokeKey(
  tx: Transaction,
  accountId: number,
  keyId: number,
  { keepLast }: { keepLast: boolean },
): Promise<{ outcome: 'revoked' | 'unchanged' | 'last_key'; key: KeyRecord } | undefined> {
  await lockKeys(tx, accountId)
  const own = eq(apiKeys.accountId, accountId)
  const [key] = await tx
    .select(shown)
    .from(apiKeys)
    .where(and(own, isNoSession, eq(apiKeys.id, keyId)))
  if (!key || key.revokedAt) return key && { outcome: 'unchanged', key }
  if (keepLast && (await tx.$count(apiKeys, and(own, ne(apiKeys.id, keyId), isUsable))) === 0) {
    return { outcome: 'last_key', key }
  }
  const [revoked = key] = await tx
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(own, eq(apiKeys.id, keyId)))
    .returning(shown)
  return { outcome: 'revoked', key: revoked }
}

/** Makes requests that count the keys or sessions of one account wait for each other. */
export async function lockKeys(tx: Transaction, accountId: number): Promise<void> {
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for('no key update')
}
