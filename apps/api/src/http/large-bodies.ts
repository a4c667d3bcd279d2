import { type FairSemaphore, makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Admission } from './read-body.ts'
import type { Exchange } from './request-context.ts'

/** Who sends a body: an account, or the network of a caller whose key is not known yet. */
export type BodySender = { kind: 'account' | 'stranger'; key: string }

export type LargeBodies = {
  /** A body that waits for longer than the deadline is refused with `unavailable`. */
  admit(exchange: Pick<Exchange, 'deadline' | 'answered'>, sender: BodySender): Admission
}

/** The largest body that an operation takes. */
export const largeBodyBytesMax = 24 * 2 ** 20
/** The same for every caller, and read without a reservation. */
const smallBytesMax = 64 * 1024
const stepBytesMax = 4 * 2 ** 20
/** Of bodies whose key is inside. */
const strangersBytes = 2 * largeBodyBytesMax
/** Its bytes, its text and the file in it together take about four times the body. */
const handledAtOnceMax = 2

type Release = () => void
type Memory = {
  bytes: FairSemaphore
  /** One body at a time needs no further reservation: memory for all of it is set aside. */
  finishing: FairSemaphore
}

/**
 * Bounds the memory of large bodies for the process, and for each sender of them. Memory is reserved as the bytes
 * arrive, so a body that is announced and does not come holds nothing. Bodies that wait for each other's memory all
 * end: one of them in turn may finish from memory that no other can reserve.
 */
export function makeLargeBodies(memoryBytes: number): LargeBodies {
  const memoryOf = { account: makeMemory(memoryBytes), stranger: makeMemory(strangersBytes) }
  const handling = makeFairSemaphore(handledAtOnceMax, { shareMax: 1 })

  return {
    admit({ deadline, answered }, { kind, key }) {
      const memory = memoryOf[kind]
      let reserved = smallBytesMax
      let isFinishing = false

      /** Until the caller is answered and nothing works on the body: Postgres may hold a statement for longer. */
      async function keep(acquire: () => Promise<Release>): Promise<void> {
        const acquired = acquire()
        acquired
          .then((release) =>
            answered()
              .then(() => deadline.idle())
              .then(release),
          )
          .catch(() => undefined)
        await deadline.run(() => acquired)
      }

      async function reserve(units: number): Promise<void> {
        const acquired = memory.bytes.tryAcquire(key, units)
        if (acquired) return keep(async () => acquired)
        await keep(async () => {
          const { release, index } = await acquireEither(
            [
              (signal) => memory.bytes.acquire(key, units, signal),
              (signal) => memory.finishing.acquire(key, 1, signal),
            ],
            deadline.signal,
          )
          isFinishing = index === 1
          return release
        })
      }

      return {
        async toHold(bytes) {
          if (bytes <= reserved || isFinishing) return
          const units = Math.max(bytes - reserved, Math.min(reserved, stepBytesMax))
          await reserve(units)
          reserved += units
        },
        async toParse() {
          if (reserved <= smallBytesMax) return
          // Callers whose key is inside share one place, whatever their network.
          await keep(() => handling.acquire(kind === 'account' ? key : kind, 1, deadline.signal))
        },
      }
    },
  }
}

function makeMemory(bytes: number): Memory {
  const shared = bytes - largeBodyBytesMax
  return {
    bytes: makeFairSemaphore(shared, { shareMax: Math.floor(shared / 2) }),
    finishing: makeFairSemaphore(1, { shareMax: 1 }),
  }
}

/** The first of several demands that is granted; the others are withdrawn. */
async function acquireEither(
  demands: ((signal: AbortSignal) => Promise<Release>)[],
  signal: AbortSignal,
): Promise<{ release: Release; index: number }> {
  const decided = new AbortController()
  const until = AbortSignal.any([signal, decided.signal])
  const attempts = demands.map(async (acquire, index) => ({ release: await acquire(until), index }))
  const first = await Promise.race(attempts)
  decided.abort()
  for (const attempt of attempts) {
    attempt.then(({ release, index }) => index !== first.index && release()).catch(() => undefined)
  }
  return first
}
