import type { Database, Transaction } from '@wagate/db/client'
import { once } from '@wagate/db/queries/messages/idempotency'
import { hashPayload } from './hash-payload.ts'
import { idempotencyKeyReused } from './idempotency-key.ts'

type ChangingCall = {
  operation: string
  context: { db: Database }
  principal: { accountId: number }
  deadline: { signal: AbortSignal }
  setHeader(name: string, value: string): void
}

type StoredResponse = Record<string, string | number | null>

/**
 * Runs a change in one transaction, once for each idempotency key. The response of `effect` is stored and returned for
 * replays, so it must not contain a secret. Requests with the same `payload` count as equal. Throws
 * `idempotency_key_reused`.
 */
export async function changeIdempotently<Response extends StoredResponse>(
  call: ChangingCall,
  { key, payload }: { key: string | undefined; payload: unknown },
  effect: (tx: Transaction) => Promise<Response>,
): Promise<{ response: Response; isReplay: boolean }> {
  const { context, principal, operation, deadline } = call
  const payloadHash = await hashPayload(payload)
  const use = key === undefined ? undefined : { accountId: principal.accountId, operation, key, payloadHash }
  const done = await once(context.db, use, async (tx) => {
    const response = await effect(tx)
    // A caller that has got a timeout response must not find the change made.
    deadline.signal.throwIfAborted()
    return response
  })
  if (done.isReplay && done.payloadHash !== payloadHash) throw idempotencyKeyReused()
  if (done.isReplay) call.setHeader('Idempotent-Replayed', 'true')
  return done
}
