import { and, eq, gt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { accountDeletions } from '../../schema/account-deletions.ts'

export type AccountDeletion = Omit<typeof accountDeletions.$inferSelect, 'proofHash'>

/** Undefined when the account is already being deleted. Call it in the transaction that disables the account. */
export async function requestAccountDeletion(
  tx: Transaction,
  accountId: number,
  { proofHash, afterDays }: { proofHash: Buffer; afterDays: number },
): Promise<{ dueAt: Date } | undefined> {
  const [requested] = await tx
    .insert(accountDeletions)
    .values({ accountId, proofHash, dueAt: sql`now() + ${afterDays}::int * interval '1 day'` })
    .onConflictDoNothing({ target: accountDeletions.accountId })
    .returning({ dueAt: accountDeletions.dueAt })
  return requested
}

/** `under_way`: it is due, so it may have begun. */
export async function cancelAccountDeletion(
  tx: Transaction,
  accountId: number,
): Promise<'canceled' | 'none' | 'under_way'> {
  const isOfAccount = eq(accountDeletions.accountId, accountId)
  // `beginAccountDeletion` counts something, and a statement that has waited for it sees that.
  const isWaiting = and(eq(accountDeletions.deleted, {}), gt(accountDeletions.dueAt, sql`now()`))
  const canceled = await tx.delete(accountDeletions).where(and(isOfAccount, isWaiting)).returning()
  if (canceled.length > 0) return 'canceled'
  return (await tx.$count(accountDeletions, isOfAccount)) > 0 ? 'under_way' : 'none'
}

const { accountId, requestedAt, dueAt, finishedAt, deleted } = accountDeletions

/** It outlives the account. */
export async function findAccountDeletion(
  db: Pick<Database, 'select'>,
  id: number,
): Promise<AccountDeletion | undefined> {
  const [found] = await db
    .select({ accountId, requestedAt, dueAt, finishedAt, deleted })
    .from(accountDeletions)
    .where(eq(accountDeletions.accountId, id))
  return found
}

export async function findDeletionByProof(
  db: Pick<Database, 'select'>,
  proofHash: Buffer,
): Promise<AccountDeletion | undefined> {
  const [found] = await db
    .select({ accountId, requestedAt, dueAt, finishedAt, deleted })
    .from(accountDeletions)
    .where(eq(accountDeletions.proofHash, proofHash))
  return found
}
