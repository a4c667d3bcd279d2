import type { Refusal } from '../session/sending/outcomes.ts'

/**
 * What follows an acknowledgement with an error. `refresh-devices`: once more, under its id, to the devices that the
 * recipient and the sender have by now. `try-later`: again after a growing pause. The others end the message.
 */
export type RefusalPlan = 'refresh-devices' | 'try-later' | 'ask-time-lock' | 'ask-new-chat-cap' | 'fail'

/** The sender's idea of the devices or addresses is out of date. */
const staleCodes = ['421', '479']
/** WhatsApp, or the way to it, is overloaded or limits the sender. Other codes are about the message. */
const temporaryCodes = ['408', '429', '500', '503']

/** `wasRefreshed`: the message was refused for stale devices before. */
export function planAfterRefusal({ code, isMappingStale }: Refusal, wasRefreshed: boolean): RefusalPlan {
  // A first message that was refused must never be sent again: each attempt makes the restriction worse.
  if (code === '463') return 'ask-time-lock'
  if (code === '475') return 'ask-new-chat-cap'
  if (temporaryCodes.includes(code)) return 'try-later'
  const isStale = staleCodes.includes(code) || isMappingStale === true
  return isStale && !wasRefreshed ? 'refresh-devices' : 'fail'
}
