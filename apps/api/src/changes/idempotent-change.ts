import type { Transaction } from '@wagate/db/client'
import { insertAuditEntry } from '@wagate/db/queries/audit-log'
import { once } from '@wagate/db/queries/idempotency'
import type { Call } from '../operation.ts'
import { hashPayload, idempotencyKeyReused } from './idempotency-key.ts'

/** `target` is `account:7`, `key:7` or `device:7`, `result` what became of it, in a word. */
type Audited = { target: string; result: string }

/** Writes down who did it, in the transaction that does it. */
export async function audit(tx: Transaction, call: Call, audited: Audited): Promise<void> {
  const { operation, account, findClientAddress, requestId, exchangeId } = call
  const { accountId, keyId } = account
  const ip = findClientAddress()
  await insertAuditEntry(tx, { ...audited, operation, accountId, keyId, ip, requestId, exchangeId })
}

type Kept = Record<string, string | number | null>

/**
 * Runs a change in one transaction, once for each idempotency key. `effect` answers what a repetition may be
 * answered with: no secret. `payload` is what makes a repetition the same request. Throws `idempotency_key_reused`.
 */
export async function changeOnce<Response extends Kept>(
  call: Call,
  { key, payload }: { key: string | undefined; payload: unknown },
  effect: (tx: Transaction) => Promise<Response>,
): Promise<{ response: Response; isReplay: boolean }> {
  const { context, account, operation, deadline } = call
  const payloadHash = await hashPayload(payload)
  const use = key === undefined ? undefined : { accountId: account.accountId, operation, key, payloadHash }
  const done = await once(context.db, use, async (tx) => {
    const response = await effect(tx)
    // Its caller has been answered that it did not work.
    deadline.signal.throwIfAborted()
    return response
  })
  if (done.isReplay && done.payloadHash !== payloadHash) throw idempotencyKeyReused()
  if (done.isReplay) call.setHeader('Idempotent-Replayed', 'true')
  return done
}
