import type { Pacing } from './pacing.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
/** As many messages more than its burst may leave after a pause, because the pacer lets messages be late. */
const jitter = 0.5

/** Why a queue does not end earlier. */
type EstimateBasis = 'pace' | 'cap'

/** `atMs`: when the last one leaves, at the earliest. */
export type Estimate = { atMs: number; basis: EstimateBasis }

/**
 * When a sender has sent so many messages, if nothing but its pace and its daily cap holds them. A lower bound: new contacts,
 * answers of WhatsApp, files and what is accepted meanwhile take longer. `sentToday`: in the UTC day of `nowMs`.
 */
export function estimateEnd(
  messages: number,
  { ratePerMinute, burst, dailyCap }: Omit<Pacing, 'newContactsPerDay'>,
  { nowMs, sentToday }: { nowMs: number; sentToday: number },
): Estimate {
  const msPerMessage = ratePerMinute === 0 ? 0 : minuteMs / ratePerMinute
  let left = messages
  let atMs = nowMs
  let sent = sentToday
  let basis: EstimateBasis = 'pace'
  // A sender that has not sent for a while begins with a burst, which a lower bound has to allow for.
  let free = ratePerMinute === 0 ? 0 : burst
  while (left > 0) {
    const midnightMs = (Math.floor(atMs / dayMs) + 1) * dayMs
    const room = dailyCap === 0 ? left : Math.max(0, dailyCap - sent)
    const earned = ratePerMinute === 0 ? left : (midnightMs - atMs) / msPerMessage
    const now = Math.min(left, room, Math.floor(earned + free))
    left -= now
    if (left === 0) return { atMs: atMs + Math.max(0, now - free) * msPerMessage, basis }
    basis = now === room ? 'cap' : 'pace'
    // The wait for the next day earns a burst.
    free = ratePerMinute === 0 ? 0 : Math.min(burst + jitter, earned + free - now)
    atMs = midnightMs
    sent = 0
  }
  return { atMs, basis }
}
