import { and, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { idempotencyKeys } from '../../schema/idempotency-keys.ts'
import { idempotencyWindowStart } from '../statements/idempotency-window.ts'

type KeyScope = { accountId: number; operation: string; key: string }

/** What a replay may show again, so never a secret. */
type Response = Record<string, string | number | null>

type Once<Kept> =
  | { isReplay: false; response: Kept }
  | { isReplay: true; response: Kept; payloadHash: string }

/**
 * Runs `effect` in a transaction and stores its response under the key for 24 hours. A concurrent duplicate waits and then
 * finds the response. Nothing is stored when `effect` rejects. `payloadHash` is in base64.
 */
export async function once<Kept extends Response>(
  db: Database,
  use: (KeyScope & { payloadHash: string }) | undefined,
  effect: (tx: Transaction) => Promise<Kept>,
): Promise<Once<Kept>> {
  return db.transaction(async (tx) => {
    if (!use) return { isReplay: false, response: await effect(tx) }
    if (!(await claimKey(tx, use))) return { isReplay: true, ...(await getStored<Kept>(tx, use)) }
    const response = await effect(tx)
    await tx.update(idempotencyKeys).set({ response }).where(isKey(use))
    return { isReplay: false, response }
  })
}

/** Waits for a transaction that is claiming the same key. False when the key is in use. */
async function claimKey(
  tx: Transaction,
  { accountId, operation, key, payloadHash }: KeyScope & { payloadHash: string },
): Promise<boolean> {
  const fresh = { payloadHash: Buffer.from(payloadHash, 'base64'), response: null, createdAt: sql`now()` }
  const claimed = await tx
    .insert(idempotencyKeys)
    .values({ accountId, operation, key, ...fresh })
    .onConflictDoUpdate({
      target: [idempotencyKeys.accountId, idempotencyKeys.operation, idempotencyKeys.key],
      set: fresh,
      setWhere: sql`${idempotencyKeys.createdAt} <= ${sql.raw(idempotencyWindowStart)}`,
    })
    .returning({ key: idempotencyKeys.key })
  return claimed.length > 0
}

async function getStored<Kept>(
  tx: Transaction,
  scope: KeyScope,
): Promise<{ response: Kept; payloadHash: string }> {
  const [stored] = await tx
    .select({ response: idempotencyKeys.response, payloadHash: idempotencyKeys.payloadHash })
    .from(idempotencyKeys)
    .where(isKey(scope))
  if (!stored) throw new Error('The idempotency key expired while it was read')
  return { response: stored.response as Kept, payloadHash: stored.payloadHash.toString('base64') }
}

function isKey({ accountId, operation, key }: KeyScope) {
  return and(
    eq(idempotencyKeys.accountId, accountId),
    eq(idempotencyKeys.operation, operation),
    eq(idempotencyKeys.key, key),
  )
}
