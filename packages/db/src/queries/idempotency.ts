import type { MessageStatus } from '@wagate/shared/statuses'
import { and, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../client.ts'
import { idempotencyKeys } from '../schema.ts'
import { rows } from './rows.ts'

type KeyScope = { accountId: number; operation: string; key: string }

/** What the first request under an idempotency key left behind. */
export type KeyUse = KeyScope & {
  payloadHash: string
  messageId: string
  deviceId: number
  status: MessageStatus
}

/** For those of the keys that were used within 24 hours. */
export async function findKeyUses(db: Database, keys: KeyScope[]): Promise<KeyUse[]> {
  return db.$client<KeyUse[]>`
    SELECT stored.account_id AS "accountId", stored.operation, stored.key,
      encode(stored.payload_hash, 'base64') AS "payloadHash",
      message.id AS "messageId", message.device_id AS "deviceId",
      CASE WHEN message.status = 'queued' AND message.send_at > now() THEN 'scheduled' ELSE message.status END
        AS status
    FROM ${rows(db.$client, 'given', keys, {
      account_id: ['int', ({ accountId }) => accountId],
      operation: ['text', ({ operation }) => operation],
      key: ['text', ({ key }) => key],
    })}
    JOIN idempotency_keys AS stored USING (account_id, operation, key)
    -- Stored by one statement, so with one now(); the partition follows from it.
    JOIN messages AS message ON message.id = stored.message_id AND message.created_at = stored.created_at
    WHERE stored.created_at > now() - interval '24 hours'`
}

/** Of an effect that is not a message: what may be shown again, so never a secret. */
type Response = Record<string, string | number | null>

type Once<Kept> =
  | { isReplay: false; response: Kept }
  | { isReplay: true; response: Kept; payloadHash: string }

/**
 * Runs `effect` in a transaction and stores its response under the key, which counts for 24 hours. A concurrent
 * twin waits for it and finds the response; when `effect` rejects nothing is stored. `payloadHash` is in base64.
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

/** Waits for whoever is claiming the same key. False when it is taken. */
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
      setWhere: sql`${idempotencyKeys.createdAt} <= now() - interval '24 hours'`,
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
