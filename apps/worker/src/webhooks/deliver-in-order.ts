import type { DeliveryRequest } from './delivery-request.ts'

type Subjects = Pick<DeliveryRequest, 'subjects'>

/**
 * Sends up to `concurrency` requests at a time, those with a subject in common one after the other. Starts none any more
 * once `mayStart` is false. Resolves when none is in flight.
 */
export async function deliverInOrder<Request extends Subjects>(
  requests: readonly Request[],
  {
    concurrency,
    mayStart,
    send,
  }: { concurrency: number; mayStart(): boolean; send(request: Request): Promise<void> },
): Promise<void> {
  const waiting = [...requests]
  const inFlight = new Map<Request, Promise<void>>()
  for (;;) {
    const next = mayStart() && inFlight.size < concurrency ? pickRequest(waiting, inFlight.keys()) : undefined
    if (next) {
      waiting.splice(waiting.indexOf(next), 1)
      inFlight.set(
        next,
        send(next).finally(() => inFlight.delete(next)),
      )
    } else if (inFlight.size > 0) await Promise.race(inFlight.values())
    else return
  }
}

/** The first request that shares no subject with one in flight or with an earlier one that waits. */
function pickRequest<Request extends Subjects>(
  waiting: readonly Request[],
  inFlight: Iterable<Request>,
): Request | undefined {
  const taken = new Set<string>()
  for (const { subjects } of inFlight) for (const subject of subjects) taken.add(subject)
  return waiting.find(({ subjects }) => {
    const isFree = [...subjects].every((subject) => !taken.has(subject))
    for (const subject of subjects) taken.add(subject)
    return isFree
  })
}
