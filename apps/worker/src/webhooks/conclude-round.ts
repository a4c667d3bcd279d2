import type { Round } from '@wagate/db/queries/webhooks/webhook-rounds'
import type { EventPosition } from '@wagate/shared/event-ids'
import type { DeliveryRequest } from './delivery-request.ts'
import { nextDelayMs } from './retry-schedule.ts'

/** `gone`: the target wants no further requests. */
export type Outcome = { result: 'taken' | 'failed' | 'gone'; retryAfterMs: number | undefined }

type Attempted = {
  /** Of the stream, in its order. */
  stream: readonly DeliveryRequest[]
  /** Behind the last event that was read. */
  streamEnd: EventPosition | undefined
  stored: readonly DeliveryRequest[]
  /** Undefined for a request that was not sent. */
  outcomeOf(request: DeliveryRequest): Outcome | undefined
}

/** `firstOpen`: the first request of the stream that is still to be delivered. */
type Conclusion = Omit<Round, 'key' | 'attempts' | 'isBacklogFull'> & {
  firstOpen: DeliveryRequest | undefined
}

/**
 * What to store after a round. The position moves to the first request that was neither taken nor failed: the latter is
 * parked, so it blocks no later events. What follows that request is delivered again, also if it was taken.
 */
export function concludeRound(
  { stream, streamEnd, stored, outcomeOf }: Attempted,
  delaysMs: readonly number[],
  random = Math.random,
): Conclusion {
  const isSettled = (request: DeliveryRequest) => {
    const outcome = outcomeOf(request)
    return outcome !== undefined && outcome.result !== 'gone'
  }
  const hasFailed = (request: DeliveryRequest) => outcomeOf(request)?.result === 'failed'
  const firstOpen = stream.find((request) => !isSettled(request))
  const settled = firstOpen ? stream.slice(0, stream.indexOf(firstOpen)) : stream
  const results = [...stream, ...stored].flatMap((request) => outcomeOf(request)?.result ?? [])

  function retryOf(request: DeliveryRequest) {
    const attempts = request.attempts + 1
    const retryAfterMs = outcomeOf(request)?.retryAfterMs
    return { attempts, delayMs: nextDelayMs(delaysMs, { attempts, retryAfterMs }, random()) }
  }

  return {
    firstOpen,
    position: firstOpen ? settled.at(-1)?.events.at(-1)?.position : streamEnd,
    parked: settled.filter(hasFailed).map((request) => ({ eventIds: request.eventIds, ...retryOf(request) })),
    repeated: stored
      .filter(hasFailed)
      .flatMap((request) => (request.deliveryId ? [{ id: request.deliveryId, ...retryOf(request) }] : [])),
    done: stored.flatMap((request) =>
      request.deliveryId && outcomeOf(request)?.result === 'taken' ? [request.deliveryId] : [],
    ),
    result: results.includes('taken') ? 'succeeded' : results.length > 0 ? 'failed' : undefined,
    hasFailure: results.some((result) => result !== 'taken'),
  }
}
