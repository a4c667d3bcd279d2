import { and, desc, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { apiKeys } from '../../schema/accounts.ts'
import { sessions } from '../../schema/sessions.ts'
import { isAwake, lockKeys, type NewKey } from './api-keys.ts'

export type Session = {
  id: number
  userAgent: string | null
  network: string
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
}

export type NewSession = {
  key: NewKey & { expiresAt: Date }
  userAgent: string | null
  network: string
}

/** The id is that of its key. Ends the oldest sessions of the account, so that at most `sessionsMax` are left. */
export async function insertSession(
  tx: Transaction,
  accountId: number,
  { key, ...session }: NewSession,
  { sessionsMax }: { sessionsMax: number },
): Promise<number> {
  await lockKeys(tx, accountId)
  const open = await listSessions(tx, accountId)
  for (const { id } of open.slice(sessionsMax - 1)) await endSessions(tx, accountId, { id })
  const [created] = await tx
    .insert(apiKeys)
    .values({ ...key, accountId })
    .returning({ id: apiKeys.id })
  if (!created) throw new Error('The key of the session was not stored')
  await tx.insert(sessions).values({ ...session, accountId, keyId: created.id })
  return created.id
}

/** Those that can be used, the newest first. */
export async function listSessions(db: Pick<Database, 'select'>, accountId: number): Promise<Session[]> {
  return db
    .select({
      id: apiKeys.id,
      userAgent: sessions.userAgent,
      network: sessions.network,
      createdAt: apiKeys.createdAt,
      lastUsedAt: apiKeys.lastUsedAt,
      expiresAt: apiKeys.expiresAt,
    })
    .from(sessions)
    .innerJoin(apiKeys, eq(apiKeys.id, sessions.keyId))
    .where(
      and(
        eq(sessions.accountId, accountId),
        isNull(apiKeys.revokedAt),
        gt(apiKeys.expiresAt, sql`now()`),
        isAwake,
      ),
    )
    .orderBy(desc(apiKeys.id))
}

/** One session, or all but one, or all. Returns how many have been ended. */
export async function endSessions(
  db: Pick<Database, 'update'>,
  accountId: number,
  { id, except }: { id?: number; except?: number } = {},
): Promise<number> {
  const isSession = sql`EXISTS (SELECT FROM sessions WHERE sessions.key_id = api_keys.id)`
  const ended = await db
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(apiKeys.accountId, accountId),
        isSession,
        isNull(apiKeys.revokedAt),
        id === undefined ? undefined : eq(apiKeys.id, id),
        except === undefined ? undefined : ne(apiKeys.id, except),
      ),
    )
    .returning({ id: apiKeys.id })
  return ended.length
}
