import type { Call } from '../call.ts'
import { AppError } from '../errors/app-error.ts'
import { waitForDevice } from '../events/wait-for-device.ts'

const answerMsMax = 4000

type NumberCheck = { jid: string | null }

/**
 * Asks the owner of the device. Sends the command again every second, because it is lost if the owner dies. Throws
 * `unavailable`. `jid` is null for a number without an account.
 */
export async function awaitNumberCheck(call: Call, deviceId: number, number: string): Promise<NumberCheck> {
  let checked: NumberCheck | undefined
  const found = await waitForDevice(call, deviceId, {
    isRelevant(event) {
      if (event.kind !== 'number' || event.number !== number) return false
      checked = { jid: event.jid }
      return true
    },
    async find() {
      if (!checked) call.context.enqueueCommand({ kind: 'check-number', deviceId, number })
      return checked
    },
    forMs: answerMsMax,
    withoutRedis: unavailable,
  })
  if (!found) throw unavailable()
  return found
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The number cannot be checked right now. Try again.', {
    retryAfterSeconds: 5,
    cause,
  })
}
