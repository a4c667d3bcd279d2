import { getMediaLinkKey } from '@wagate/db/queries/statements/installation'
import {
  type ClaimedWebhook,
  findClaimedWebhook,
  type WebhookLease,
} from '@wagate/db/queries/webhooks/webhook-leases'
import { countWaitingDeliveries, type Round } from '@wagate/db/queries/webhooks/webhook-rounds'
import { makeMediaLinker } from '@wagate/shared/media-links'
import type { MediaLinker } from '@wagate/shared/objects/media-object'
import type { TargetFault } from '@wagate/shared/statuses'
import { openWebhookSecret } from '../session/network/proxy-box.ts'
import { AttemptLog } from './attempt-log.ts'
import { Circuit } from './circuit.ts'
import type { DispatcherContext } from './dispatcher-context.ts'

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
