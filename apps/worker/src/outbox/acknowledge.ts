import { isBelievable, type Outcome } from '../session/sending/outcomes.ts'
import type { OutboxScope } from './outbox-scope.ts'

/** Does what follows an acknowledgement, a refusal or a receipt for a message of the device. */
export function acknowledge(outbox: OutboxScope, waId: string, outcome: Outcome): void {
  if (outcome.kind !== 'refused') outbox.proof.noteAcknowledged()
  const wasInFlight = outbox.inFlight.resolve(waId, outcome)
  if (!wasInFlight && outcome.kind !== 'refused') acknowledgeLate(outbox, waId, outcome)
}

/** An acknowledgement that came too late for its attempt spares the message the next one. */
function acknowledgeLate(
  { acknowledged, device, facts, pump, waiting, work }: OutboxScope,
  waId: string,
  outcome: Outcome,
): void {
  const message = waiting.list().find((known) => known.waId === waId && !acknowledged.has(known))
  const recipient = message && facts.recipientOf(message)
  if (!message || !recipient || work.kindFor(recipient) || !isBelievable(outcome, recipient)) return
  device.retries.forget(message.id)
  acknowledged.add(message)
  pump()
}
