import type { Transaction } from '@wagate/db/client'
import { type AuditDetail, insertAuditEntry } from '@wagate/db/queries/accounts/audit-log'
import type { ChargeLimits } from '../limits/charge.ts'

/** `keyId` is null for a person without a key, who has used a link or a password. */
type Acting = ActingCall & { principal: { accountId: number; keyId: number | null } }

type ActingCall = {
  operation: string
  request: { requestId: string; exchangeId: string; findClientAddress(): string }
  charge: ChargeLimits
  deadline: { signal: AbortSignal }
}

/** Of an operation without an API key, once it is known whose account the person changes. */
export function actingFor(call: ActingCall, accountId: number, keyId: number | null = null): Acting {
  return { ...call, principal: { accountId, keyId } }
}

type AuditedChange = {
  /** Such as `account:7`, `key:7` or `device:7`. */
  target: string
  /** One word. */
  result: string
  /** What was changed, if the target does not say it. */
  detail?: AuditDetail
  /** Never refused: it takes away what an earlier entry gave, so those entries bound its number. */
  isFree?: boolean
}

/**
 * Records who made a change, in the transaction of the change. Not to be called when nothing has changed. Throws
 * `rate_limited`, because a change without an entry must not be made, and entries are kept.
 */
export async function audit(
  tx: Transaction,
  call: Acting,
  { isFree = false, ...change }: AuditedChange,
): Promise<void> {
  const { operation, principal, request, deadline } = call
  const { accountId, keyId } = principal
  if (!isFree) await call.charge({ limit: 'changes', key: String(accountId) })
  const { requestId, exchangeId } = request
  const ip = request.findClientAddress()
  await insertAuditEntry(tx, { ...change, operation, accountId, keyId, ip, requestId, exchangeId })
  // A caller that has got a timeout response must not find the change made.
  deadline.signal.throwIfAborted()
}

/** The names of the parameters that were given. */
export function namesOf(parameters: Record<string, unknown>): string[] {
  return Object.keys(parameters).filter((name) => parameters[name] !== undefined)
}
