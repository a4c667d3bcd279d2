import type { MessageProgress } from '@wagate/db/queries/message-progress'
import type { MessageStatus } from '@wagate/shared/statuses'
import { lookUntilFound, makeNudge } from '../events/poll-until.ts'
import type { Call } from '../operation.ts'

const finalStatuses: MessageStatus[] = ['sent', 'delivered', 'read', 'failed', 'canceled']

type Accepted = { messageId: string; deviceId: number }

/** The newest state of an accepted message once it is sent or failed, or when the time is up. */
export async function awaitOutcome(
  call: Call,
  accepted: Accepted,
  waitMs: number,
): Promise<MessageProgress | undefined> {
  const end = call.context.outcomeWaits.begin(call.account.accountId)
  if (!end) {
    call.warn('wait was ignored: too many requests wait already. Ask message-status for the outcome.')
    return undefined
  }
  try {
    return await untilFinal(call, accepted, waitMs)
  } finally {
    end()
  }
}

async function untilFinal(
  { context: { outcomeWaits, events, closing }, account, deadline }: Call,
  { messageId, deviceId }: Accepted,
  waitMs: number,
): Promise<MessageProgress | undefined> {
  deadline.extend(waitMs)
  const nudge = makeNudge()
  let newest: MessageProgress | undefined
  const leave = await events
    .subscribe(deviceId, (event) => {
      if (event.kind === 'message' && event.messageId === messageId) nudge.nudge()
    })
    // Without Redis the look at every second remains.
    .catch(() => undefined)
  try {
    await lookUntilFound(
      async () => {
        newest = await outcomeWaits.findProgress(account.accountId, messageId)
        return newest && finalStatuses.includes(newest.status) ? newest : undefined
      },
      { nudge, forMs: waitMs, signal: AbortSignal.any([closing, deadline.signal]) },
    )
    return newest
  } finally {
    await leave?.()
  }
}
