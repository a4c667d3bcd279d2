import { AppError } from '../errors/app-error.ts'
import { lookUntilFound, makeNudge } from '../events/poll-until.ts'
import type { Call } from '../operation.ts'

const answerMsMax = 4000

/**
 * Asks the owner of the device, again every second: a command may be lost with the owner that was to handle it.
 * Throws `unavailable`. `jid` is null for a number without an account.
 */
export async function awaitNumberCheck(
  { context: { events, command, closing }, deadline }: Call,
  deviceId: number,
  number: string,
): Promise<{ jid: string | null }> {
  const nudge = makeNudge()
  let answer: { jid: string | null } | undefined

  const leave = await events
    .subscribe(deviceId, (event) => {
      if (event.kind !== 'number' || event.number !== number) return
      answer = { jid: event.jid }
      nudge.nudge()
    })
    .catch((error: unknown) => {
      throw unavailable(error)
    })
  try {
    const found = await lookUntilFound(
      async () => {
        if (!answer) command({ kind: 'check-number', deviceId, number })
        return answer
      },
      { nudge, forMs: answerMsMax, signal: AbortSignal.any([closing, deadline.signal]) },
    )
    if (!found) throw unavailable()
    return found
  } finally {
    await leave()
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The number cannot be looked up at the moment. Try again.', {
    retryAfterSeconds: 5,
    cause,
  })
}
