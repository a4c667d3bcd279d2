import type { Role } from '@wagate/shared/statuses'
import { and, asc, eq, gt, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../client.ts'
import { accounts, apiKeys } from '../schema.ts'

/** What a key stands for. */
export type KeyHolder = {
  keyId: number
  keyExpiresAt: Date | null
  accountId: number
  role: Role
  accountExpiresAt: Date | null
}

/** By the SHA-256 of each key, in base64. A revoked key is not found. */
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
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(and(inArray(apiKeys.hash, given), isNull(apiKeys.revokedAt)))
  return new Map(rows.map(({ hash, ...holder }) => [hash.toString('base64'), holder]))
}

/** At most once a minute, however many processes note it. */
export async function setKeyUsed(db: Database, keyId: number): Promise<void> {
  await db.$client`
    UPDATE api_keys SET last_used_at = now()
    WHERE id = ${keyId} AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`
}

export type NewKey = {
  name: string
  hash: Buffer
  lastFour: string
  expiresAt?: Date | null
  /** The id of the key that makes it. */
  createdBy?: number
}

/** What may be shown of a key. */
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

const isUsable = and(
  isNull(apiKeys.revokedAt),
  or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
)

export async function listKeys(db: Database, accountId: number): Promise<KeyRecord[]> {
  return db.select(shown).from(apiKeys).where(eq(apiKeys.accountId, accountId)).orderBy(asc(apiKeys.id))
}

/** Undefined when the account has `usableMax` keys already. */
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

/** With `keepLast` the last usable key of the account is not revoked. Undefined when the account has no such key. */
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
    .where(and(own, eq(apiKeys.id, keyId)))
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

/** Two requests count the keys of an account one after the other. */
async function lockKeys(tx: Transaction, accountId: number): Promise<void> {
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for('no key update')
}
