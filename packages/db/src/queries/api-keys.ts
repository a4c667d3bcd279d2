import type { Role } from '@wagate/shared/statuses'
import { and, eq, isNull } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { accounts, apiKeys } from '../schema.ts'

/** What a key stands for. */
export type KeyHolder = {
  keyId: number
  keyExpiresAt: Date | null
  accountId: number
  role: Role
  accountExpiresAt: Date | null
}

/** By the SHA-256 of the key. A revoked key is not found. */
export async function findKeyHolder(db: Database, hash: Buffer): Promise<KeyHolder | undefined> {
  const [holder] = await db
    .select({
      keyId: apiKeys.id,
      keyExpiresAt: apiKeys.expiresAt,
      accountId: accounts.id,
      role: accounts.role,
      accountExpiresAt: accounts.expiresAt,
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAt)))
  return holder
}

export async function setKeyUsed(db: Database, keyId: number): Promise<void> {
  await db.$client`UPDATE api_keys SET last_used_at = now() WHERE id = ${keyId}`
}
