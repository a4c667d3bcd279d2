import { isBelievable, type Outcome } from '../session/outcomes.ts'
import type { OutboxScope } from './outbox-scope.ts'

/**
 * An acknowledgement that came too late for its attempt spares the message the next attempt. Returns whether it did.
 */
export function acknowledgeLate(
  { acknowledged, device, facts, waiting, work }: OutboxScope,
  waId: string,
  outcome: Outcome,
): boolean {
  const message = waiting.list().find((known) => known.waId === waId && !acknowledged.has(known))
  const recipient = message && facts.recipientOf(message)
  if (!message || !recipient || work.kindFor(recipient) || !isBelievable(outcome, recipient)) return false
  device.retries.forget(message.id)
  acknowledged.add(message)
  return true
}
