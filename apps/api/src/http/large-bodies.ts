import { type FairSemaphore, makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { BodyAdmission } from './read-body.ts'
import type { RequestContext } from './request-context.ts'

/** An account, or the network of a caller whose API key is inside the body and not yet known. */
export type BodySender = { kind: 'account' | 'network'; key: string }

export type LargeBodies = {
  /** Bodies that wait past the deadline are refused with `unavailable`. */
  admit(request: Pick<RequestContext, 'deadline' | 'answered'>, sender: BodySender): BodyAdmission
}

/** The largest body that any operation accepts. */
export const largeBodyBytesMax = 24 * 2 ** 20
/** Read without a reservation: every operation accepts this much from every caller. */
const smallBytesMax = 64 * 1024
const stepBytesMax = 4 * 2 ** 20
/** For bodies that contain their API key. */
const unauthenticatedBytes = 2 * largeBodyBytesMax
/** Parsing and storing a body takes about four times its size: its bytes, its text and the decoded file. */
const parsedAtOnceMax = 2

type Release = () => void
type Memory = {
  bytes: FairSemaphore
  /** Room for the rest of one body, so that bodies that wait for each other's memory cannot deadlock. */
  finishing: FairSemaphore
}

/**
 * Bounds the memory of large bodies, for the process and for each sender. Memory is reserved as bytes arrive, so a body
 * that is announced and never sent reserves nothing. All waiting bodies finish eventually: one at a time may use memory
 * that is set aside for finishing.
 */
export function makeLargeBodies(memoryBytes: number): LargeBodies {
  const memoryOf = { account: makeMemory(memoryBytes), network: makeMemory(unauthenticatedBytes) }
  const parsing = makeFairSemaphore(parsedAtOnceMax, { shareMax: 1 })

  return {
    admit({ deadline, answered }, { kind, key }) {
      const memory = memoryOf[kind]
      let reserved = smallBytesMax
      let isFinishing = false

      /** Keeps it until the caller is answered and all work on the body has ended: a statement may outlive the answer. */
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

      async function acquireBytes(units: number): Promise<void> {
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
        async reserve(bytes) {
          if (bytes <= reserved || isFinishing) return
          const units = Math.max(bytes - reserved, Math.min(reserved, stepBytesMax))
          await acquireBytes(units)
          reserved += units
        },
        async startParsing() {
          if (reserved <= smallBytesMax) return
          // All unauthenticated callers share one slot, even from different networks.
          await keep(() => parsing.acquire(kind === 'account' ? key : kind, 1, deadline.signal))
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

/** Resolves with the first of several acquisitions that succeeds, and cancels the others. */
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
