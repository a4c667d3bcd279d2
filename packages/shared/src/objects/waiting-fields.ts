import { z } from 'zod'
import { type WaitingReason, waitingReasons } from '../waiting-reasons.ts'
import { extensibleEnum } from './extensible-enum.ts'
import { messageObject } from './message-object.ts'

const guide = Object.entries(waitingReasons).map(([reason, what]) => `\`${reason}\`: ${what}`)

const waitingFields = {
  waiting_for: extensibleEnum(Object.keys(waitingReasons))
    .nullable()
    .describe(`What the message waits for; null when it does not wait. ${guide.join('. ')}`),
  waiting_until: z.iso
    .datetime()
    .nullable()
    .describe('When that is over, if it is known: other things may keep the message longer'),
}

/** A message of the history, as it is now. */
export const listedMessage = z
  .object({ ...messageObject.shape, ...waitingFields })
  .meta({ id: 'ListedMessage' })

export type Wait = { reason: WaitingReason; until: Date | null }

export function toWaitingFields(wait: Wait | undefined) {
  return { waiting_for: wait?.reason ?? null, waiting_until: wait?.until?.toISOString() ?? null }
}
