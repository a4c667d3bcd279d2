import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { noteSetback } from './note-setback.ts'
import type { OutboxScope } from './outbox-scope.ts'
import type { SendResult } from './send-result.ts'

/** Does what follows the result of one attempt. `wasProven`: the connection worked before the message was sent. */
export async function concludeSend(
  outbox: OutboxScope,
  message: WaitingMessage,
  result: SendResult,
  wasProven: boolean,
): Promise<void> {
  const { acknowledged, device, waiting } = outbox
  if (result.kind === 'retry') return keepForRetry(outbox, message, result, wasProven)
  if (result.kind === 'paused') {
    // It is read again, at once if it is for a known contact.
    waiting.requeue(message)
    waiting.mayHaveMore()
    device.pacer.release(message.waId)
    return
  }
  device.retries.forget(message.id)
  if (result.kind === 'acknowledged') acknowledged.add(message)
  else if (result.kind === 'unclaimed') {
    waiting.skip(message)
    device.pacer.release(message.waId)
  } else {
    waiting.remove(message)
    device.pacer.confirm(message.waId)
  }
}

async function keepForRetry(
  outbox: OutboxScope,
  message: WaitingMessage,
  { setback, sentence }: Extract<SendResult, { kind: 'retry' }>,
  isBlamed: boolean,
): Promise<void> {
  const { device, results } = outbox
  const { retries } = device
  if (!setback) return
  await noteSetback(outbox, message, setback, { isBlamed, ...(sentence && { sentence }) })
  if (!retries.isHopeless(message.id)) return
  await results.fail(message, 'message_ends_connection')
  retries.forget(message.id)
}
