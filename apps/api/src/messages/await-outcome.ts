import type { MessageProgress } from '@wagate/db/queries/message-progress'
import type { MessageStatus } from '@wagate/shared/statuses'
import type { Call } from '../call.ts'
import { waitForDevice } from '../events/wait-for-device.ts'

const finalStatuses: MessageStatus[] = ['sent', 'delivered', 'read', 'failed', 'canceled']

type MessageOfDevice = { messageId: string; deviceId: number }

/** Resolves when the message is sent or has failed, or when the time is up, with its latest progress. */
export async function awaitOutcome(
  call: Call,
  message: MessageOfDevice,
  waitMs: number,
): Promise<MessageProgress | undefined> {
  const end = call.context.outcomeWaits.begin(call.principal.accountId)
  if (!end) {
    call.warn('wait was ignored: too many requests are already waiting. Poll message-status instead.')
    return undefined
  }
  try {
    return await untilFinal(call, message, waitMs)
  } finally {
    end()
  }
}

async function untilFinal(
  call: Call,
  { messageId, deviceId }: MessageOfDevice,
  waitMs: number,
): Promise<MessageProgress | undefined> {
  const { context, principal, deadline } = call
  deadline.extend(waitMs)
  let latest: MessageProgress | undefined
  await waitForDevice(call, deviceId, {
    isRelevant: (event) => event.kind === 'message' && event.messageId === messageId,
    async find() {
      latest = await context.outcomeWaits.findProgress(principal.accountId, messageId)
      return latest && finalStatuses.includes(latest.status) ? latest : undefined
    },
    forMs: waitMs,
  })
  return latest
}
