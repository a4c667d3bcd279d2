import type { Transaction } from '@wagate/db/client'
import { insertAuditEntry } from '@wagate/db/queries/audit-log'
import type { Call } from '../call.ts'

/** `target` is like `account:7`, `key:7` or `device:7`; `result` is one word. */
type AuditedChange = { target: string; result: string }

/** Records who made a change, in the transaction of the change. */
export async function audit(tx: Transaction, call: Call, change: AuditedChange): Promise<void> {
  const { operation, principal, findClientAddress, requestId, exchangeId } = call
  const { accountId, keyId } = principal
  const ip = findClientAddress()
  await insertAuditEntry(tx, { ...change, operation, accountId, keyId, ip, requestId, exchangeId })
}
