import type { KeyHolder } from '@wagate/db/queries/api-keys'
import type { Allowance, RateLimiter } from '@wagate/queue/rate-limits'
import { makeNaturalBatch } from '@wagate/shared/natural-batch'
import { LRUCache } from 'lru-cache'
import { clientNetwork } from '../http/client-address.ts'
import { tooMany } from '../limits/charge.ts'

type LookUp = () => Promise<KeyHolder | undefined>

/** Runs the look-up of a key that this process has not seen to be valid. Throws `rate_limited`. */
export type GuessGuard = (clientAddress: string, lookUp: LookUp) => Promise<KeyHolder | undefined>

const clientsMax = 10_000

/**
 * Whoever comes with too many keys that are not valid learns nothing more about any key for a while: a valid one
 * is refused as well, or guessing could go on. Keys that this process has seen to be valid do not come here:
 * somebody's guesses do not shut out the others behind the same address.
 */
export function makeGuessGuard(limiter: RateLimiter | undefined): GuessGuard {
  return limiter ? guardWith(limiter) : (_, lookUp) => lookUp()
}

function guardWith(limiter: RateLimiter): GuessGuard {
  async function attempt(client: string, lookUp: LookUp): Promise<KeyHolder | undefined> {
    const holder = await lookUp()
    if (holder === undefined) refuseWithout(await limiter.take(client))
    return holder
  }

  /** At most as many look-ups at a time as may fail: otherwise a thousand guesses at once would all be made. */
  function makeQueue(client: string) {
    return makeNaturalBatch<LookUp, PromiseSettledResult<KeyHolder | undefined>>(
      async (lookUps) => {
        refuseWithout(await limiter.look(client))
        return Promise.allSettled(lookUps.map((lookUp) => attempt(client, lookUp)))
      },
      { itemsMax: limiter.policy.quota },
    )
  }
  const queues = new LRUCache<string, ReturnType<typeof makeQueue>>({
    max: clientsMax,
    memoMethod: makeQueue,
  })

  return async (clientAddress, lookUp) => {
    const outcome = await queues.memo(clientNetwork(clientAddress)).add(lookUp)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
}

function refuseWithout(allowance: Allowance): void {
  if (!allowance.isAllowed) {
    throw tooMany('There were too many requests with keys that are not valid. Try again later.', allowance)
  }
}
