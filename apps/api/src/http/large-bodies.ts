import { makeSemaphore, type Semaphore } from '@wagate/shared/semaphore'
import type { Exchange } from './exchange.ts'
import type { Admission } from './read-body.ts'

export type LargeBodies = {
  /** Who waits for longer than the deadline is refused with `unavailable`. */
  admit(exchange: Pick<Exchange, 'deadline' | 'answered'>, caller: 'account' | 'stranger'): Admission
}

/** Bodies up to this size are everybody's usual ones, and wait for nothing. */
const smallBytesMax = 64 * 1024
/** One body. Someone without a key cannot keep those out who have one. */
const strangersBytes = 24 * 2 ** 20
/** Text, parsed values and statement together take eight times the body. */
const handledAtOnceMax = 2

/** Keeps large bodies from taking the memory of the process together, however many come at once. */
export function makeLargeBodies(memoryBytes: number): LargeBodies {
  const reading = { account: makeSemaphore(memoryBytes), stranger: makeSemaphore(strangersBytes) }
  const handling = makeSemaphore(handledAtOnceMax)

  return {
    admit(exchange, caller) {
      const { deadline } = exchange
      async function take(semaphore: Semaphore, units: number): Promise<void> {
        const taken = semaphore.acquire(units, deadline.signal)
        // Postgres may still hold a statement long after its caller was told to come again.
        taken
          .then((giveBack) =>
            exchange
              .answered()
              .then(() => deadline.idle())
              .then(giveBack),
          )
          .catch(() => undefined)
        await deadline.run(() => taken)
      }
      let isLarge = false
      return {
        async toRead(bytes) {
          isLarge = bytes > smallBytesMax
          if (isLarge) await take(reading[caller], bytes)
        },
        async toParse() {
          if (isLarge) await take(handling, 1)
        },
      }
    },
  }
}
