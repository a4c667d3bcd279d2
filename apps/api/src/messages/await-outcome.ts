import type { MessageProgress } from '@wagate/db/queries/messages/message-progress'
import type { MessageStatus } from '@wagate/shared/statuses'
import { untilNextPollMs } from '../events/poll-until.ts'
import type { Deadline } from '../http/deadline.ts'
import type { OutcomeWait, OutcomeWaits } from './outcome-waits.ts'

const finalStatuses: MessageStatus[] = ['sent', 'delivered', 'read', 'failed', 'canceled']

type WaitingCall = {
  principal: { accountId: number }
  deadline: Deadline
  context: { messages: { outcomeWaits: Pick<OutcomeWaits, 'findProgress'> } }
}
type MessageOfDevice = { messageId: string; deviceId: number }

/** Resolves when the message is sent or has failed, or when the time is up, with its latest progress. */
export async function awaitOutcome(
  { context, principal, deadline }: WaitingCall,
  wait: OutcomeWait,
  message: MessageOfDevice,
  waitMs: number,
): Promise<MessageProgress | undefined> {
  const endsAtMs = performance.now() + waitMs
  deadline.extend(waitMs)
  let mustRead = !(await wait.listen(message))
  let latest: MessageProgress | undefined
  for (;;) {
    if (mustRead)
      latest = await context.messages.outcomeWaits.findProgress(principal.accountId, message.messageId)
    if (latest && finalStatuses.includes(latest.status)) return latest
    const leftMs = endsAtMs - performance.now()
    if (leftMs <= 0 || deadline.isOver || wait.inbox.isClosed()) return latest
    // A lost event therefore costs at most a second.
    const told = await wait.inbox.take(Math.min(leftMs, untilNextPollMs()))
    if (told?.isStored) return { status: told.status, error: null, errorCode: null }
    mustRead = true
  }
}
