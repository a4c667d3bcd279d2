import { and, eq, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { accounts, apiKeys } from '../../schema/accounts.ts'
import { streamTokens } from '../../schema/stream-tokens.ts'
import type { KeyHolder } from '../accounts/api-keys.ts'

/** What a token shows. Null: everything of the account. `after`: only events that follow this one. */
export type StreamToken = {
  id: number
  types: number[] | null
  deviceId: number | null
  after: string | null
}

export type NewStreamToken = Omit<StreamToken, 'id'> & { keyId: number; hash: Buffer; forMs: number }

/** Deletes the expired tokens of the account. */
export async function insertStreamToken(
  tx: Transaction,
  accountId: number,
  { forMs, ...token }: NewStreamToken,
): Promise<void> {
  await tx
    .delete(streamTokens)
    .where(and(eq(streamTokens.accountId, accountId), lt(streamTokens.expiresAt, sql`now()`)))
  const expiresAt = sql`now() + ${forMs}::float8 * interval '1 ms'`
  await tx.insert(streamTokens).values({ accountId, ...token, expiresAt })
}

/**
 * The map and `hashes` identify tokens by SHA-256 in base64. Not found: those whose API key was revoked or has expired. An
 * expired token is found as such.
 */
export async function findStreamTokenHolders(
  db: Database,
  hashes: string[],
): Promise<Map<string, KeyHolder & { streamToken: StreamToken }>> {
  const given = sql`(SELECT decode(given.hash, 'base64') FROM unnest(${sql.param(hashes)}::text[]) AS given (hash))`
  const rows = await db
    .select({
      hash: streamTokens.hash,
      id: streamTokens.id,
      types: streamTokens.types,
      deviceId: streamTokens.deviceId,
      after: streamTokens.after,
      keyExpiresAt: streamTokens.expiresAt,
      keyId: apiKeys.id,
      accountId: accounts.id,
      role: accounts.role,
      accountExpiresAt: accounts.expiresAt,
      accountDisabledAt: accounts.disabledAt,
    })
    .from(streamTokens)
    .innerJoin(
      apiKeys,
      and(
        eq(apiKeys.id, streamTokens.keyId),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
      ),
    )
    .innerJoin(accounts, eq(accounts.id, streamTokens.accountId))
    .where(inArray(streamTokens.hash, given))
  return new Map(
    rows.map(({ hash, id, types, deviceId, after, ...holder }) => [
      hash.toString('base64'),
      { ...holder, streamToken: { id, types, deviceId, after } },
    ]),
  )
}
