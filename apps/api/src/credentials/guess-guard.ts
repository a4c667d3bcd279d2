import type { RateLimiter } from '@wagate/queue/rate-limits'
import { clientNetwork } from '../http/client-address.ts'
import { tooMany } from '../limits/charge.ts'

/** Runs a look-up of a key that this process has not seen to be valid. Throws `rate_limited`. */
export type GuessGuard = <Found>(
  clientAddress: string,
  lookUp: () => Promise<Found | undefined>,
) => Promise<Found | undefined>

/**
 * Whoever comes with too many keys that are not valid learns nothing more about any key for a while: a valid one
 * is refused as well, or guessing could go on. Only keys that this process has seen to be valid pass, which is
 * decided before this: somebody's guesses do not shut out the others behind the same address.
 */
export function makeGuessGuard(limiter: RateLimiter | undefined): GuessGuard {
  if (!limiter) return (_, lookUp) => lookUp()
  const queues = new Map<string, Promise<unknown>>()

  return (clientAddress, lookUp) => {
    const client = clientNetwork(clientAddress)
    // One after the other, or as many guesses as fit into one moment would be answered.
    const before = queues.get(client) ?? Promise.resolve()
    const mine = before.then(async () => {
      const allowance = await limiter.look(client)
      if (!allowance.isAllowed) {
        throw tooMany(
          'There were too many requests with keys that are not valid. Try again later.',
          allowance,
        )
      }
      const found = await lookUp()
      if (found === undefined) await limiter.take(client)
      return found
    })
    const settled = mine
      .catch(() => undefined)
      .then(() => {
        if (queues.get(client) === settled) queues.delete(client)
      })
    queues.set(client, settled)
    return mine
  }
}
