import { getMediaLinkKey } from '@wagate/db/queries/statements/installation'
import {
  type ClaimedWebhook,
  findClaimedWebhook,
  type WebhookLease,
} from '@wagate/db/queries/webhooks/webhook-leases'
import {
  type AttemptRecord,
  countWaitingDeliveries,
  type Round,
} from '@wagate/db/queries/webhooks/webhook-rounds'
import { makeMediaLinker } from '@wagate/shared/media-links'
import type { MediaLinker } from '@wagate/shared/objects/media-object'
import type { TargetFault } from '@wagate/shared/statuses'
import { openWebhookSecret } from '../session/network/proxy-box.ts'
import { Circuit } from './circuit.ts'
import type { DeliveryRequest } from './delivery-request.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
import type { PostResult } from './post-delivery.ts'

/** In Unix time. */
type Secret = { secret: string; validUntilSeconds: number }

/** A webhook while one dispatcher delivers it. */
export type WebhookState = Omit<ClaimedWebhook, 'secrets' | 'lastAttempt'> & {
  lease: WebhookLease
  secrets: Secret[]
  circuit: Circuit
  log: AttemptLog
  linkTo: MediaLinker
  /** Deliveries that wait for their next attempt. Replays are added when it is counted. */
  waiting: number
  countedAtMs: number
  /** The time of some of them may have come. */
  mayBeDue: boolean
  storedAtMs: number
  /** What became of a round, until it is stored. */
  unstored: { round: Round; isGone: boolean; hasTest: boolean } | undefined
  /** Why it is to be disabled. */
  fault: TargetFault | undefined
  /** When the oldest event was recorded that waits for its first attempt. */
  waitingSinceMs: number | undefined
}

/** Undefined when the lease has ended. Throws when a secret cannot be opened. `circuit`: of a former state. */
export async function loadWebhook(
  { db, masterKeys, limits, publicUrl }: DispatcherContext,
  lease: WebhookLease,
  circuit?: Circuit,
): Promise<WebhookState | undefined> {
  const claimed = await findClaimedWebhook(db, lease)
  if (!claimed) return undefined
  const { secrets, lastAttempt, ...webhook } = claimed
  const nowMs = performance.now()
  return {
    ...webhook,
    lease,
    secrets: secrets.map(({ sealed, validUntilSeconds }) => ({
      secret: openWebhookSecret(masterKeys, lease.webhookId, sealed).toString(),
      validUntilSeconds,
    })),
    circuit: circuit ?? new Circuit(limits.circuit, webhook.isFailing),
    log: new AttemptLog(lastAttempt),
    linkTo: makeMediaLinker(await getMediaLinkKey(db), publicUrl),
    waiting: await countWaitingDeliveries(db, lease.webhookId, limits.waitingMax),
    countedAtMs: nowMs,
    mayBeDue: true,
    storedAtMs: nowMs,
    unstored: undefined,
    fault: undefined,
    waitingSinceMs: undefined,
  }
}

/** The newest first. */
export function secretsAt({ secrets }: WebhookState, nowSeconds: number): string[] {
  return secrets.flatMap(({ secret, validUntilSeconds }) => (nowSeconds < validUntilSeconds ? [secret] : []))
}

/** A healthy target may take a thousand requests in a second. */
const successEveryMs = 1000

/** Numbers the attempts of a webhook. Records all failures, and at most one success of the stream in a second. */
class AttemptLog {
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
