import type { AttemptRecord } from '@wagate/db/queries/webhooks/webhook-rounds'
import type { DeliveryRequest } from './delivery-request.ts'
import type { PostResult } from './post-delivery.ts'

/** A healthy target may take a thousand requests in a second. */
const successEveryMs = 1000

/** Numbers the attempts of a webhook. Records all failures, and at most one success of the stream in a second. */
export class AttemptLog {
  #number: number
  #successAtMs = Number.NEGATIVE_INFINITY
  #records: AttemptRecord[] = []

  constructor(lastNumber: number) {
    this.#number = lastNumber
  }

  add(request: DeliveryRequest, { status, error, answer, durationMs }: PostResult, isTaken: boolean): void {
    const isSampled = performance.now() - this.#successAtMs >= successEveryMs
    if (isTaken && request.deliveryId === undefined && !isSampled) return
    if (isTaken) this.#successAtMs = performance.now()
    this.#number += 1
    this.#records.push({
      number: this.#number,
      deliveryId: request.id,
      eventIds: request.eventIds,
      attempt: request.attempts + 1,
      durationMs,
      status,
      error,
      answer,
    })
  }

  /** Returns the records since the last call. */
  take(): AttemptRecord[] {
    const records = this.#records
    this.#records = []
    return records
  }
}
