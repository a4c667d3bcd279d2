import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { deleteDeadDispatchers } from '@wagate/db/queries/webhooks/webhook-leases'
import { listDueWebhooks } from '@wagate/db/queries/webhooks/webhook-rounds'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { HostNames } from '@wagate/runtime/host-names'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { type DispatcherContext, type DispatcherLimits, dispatcherLimits } from './dispatcher-context.ts'
import { addDispatcherGauges } from './dispatcher-metrics.ts'
import { OwnedWebhook } from './owned-webhook.ts'
import { makeTargetGuard } from './target-guard.ts'
import { WebhookOwnership } from './webhook-ownership.ts'

export type DispatcherOptions = Pick<
  DispatcherContext,
  'db' | 'logger' | 'metrics' | 'masterKeys' | 'publicUrl' | 'publishEventHint'
> & {
  allowsPrivateHosts: boolean
  limits?: Partial<DispatcherLimits>
  hostNames: HostNames
}

export type Dispatcher = Running & {
  /** A webhook was changed or has something to deliver. */
  wake(webhookId: number): void
  /** An account has new events. */
  wakeAccount(accountId: number): void
  /** The ids of the webhooks that it delivers. */
  webhookIds(): number[]
}

/** Each holds a page of events in memory and has up to four requests in flight. */
const roundsMax = 256
const roundsOfAccountMax = 16

/** Delivers a share of the webhooks, beside other dispatchers, from the database that `db` connects to. */
export function startDispatcher({
  allowsPrivateHosts,
  limits: given,
  hostNames,
  ...shared
}: DispatcherOptions): Dispatcher {
  const { db, logger, metrics } = shared
  const limits = { ...dispatcherLimits, ...given }
  const guard = makeTargetGuard(allowsPrivateHosts ? () => false : isForbiddenAddress, hostNames)
  const rounds = makeFairSemaphore(roundsMax, { shareMax: roundsOfAccountMax })
  const context: DispatcherContext = { ...shared, guard, limits, rounds }
  const outage = makeOutageLog(logger, 'webhooks')
  // One webhook may fail while the others work.
  const failures = makeOutageLog(logger, 'a webhook')
  const ownership: WebhookOwnership = new WebhookOwnership({
    db,
    id: randomUUID(),
    leaseMs: limits.leaseMs,
    open: (lease) =>
      new OwnedWebhook({
        context,
        lease,
        isLeaseValid: () => ownership.isLeaseValid(),
        onError: failures.failed,
      }),
  })
  const beat = () => ownership.beat().catch(outage.failed)
  const closing = new AbortController()
  const closed = new AbortController()

  async function poll(): Promise<void> {
    await ownership.endRoundsOfChanged()
    const webhooks = ownership.webhooks
    const loaded = webhooks.flatMap(({ state }) => state ?? [])
    const positions = loaded.map(({ id, accountId, position }) => ({ webhookId: id, accountId, position }))
    for (const webhook of webhooks) if (!webhook.state) webhook.wake()
    if (positions.length === 0) return
    for (const { webhookId, hasDeliveries } of await listDueWebhooks(db, positions)) {
      const webhook = ownership.find(webhookId)
      if (hasDeliveries) webhook?.wake()
      else webhook?.wakeForEvents()
    }
    outage.worked()
  }

  async function repeat(work: () => Promise<void>, pauseMs: () => number, { signal }: AbortController) {
    while (!signal.aborted) {
      await work().catch(outage.failed)
      await delay(pauseMs(), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  // Without webhooks there is nothing to poll, and each timer wakes the process.
  const pollPauseMs = () => (ownership.webhooks.length > 0 ? limits.pollMs : limits.idlePollMs)
  const polling = repeat(poll, pollPauseMs, closing)
  const beating = repeat(beat, () => limits.heartbeatMs, closed)
  void deleteDeadDispatchers(db).catch(outage.failed)
  addDispatcherGauges(metrics, () => readingsOf(ownership.webhooks))

  async function close(): Promise<void> {
    closing.abort()
    await Promise.all([ownership.close(), polling])
    closed.abort()
    await beating
    await ownership.unregister().catch(outage.failed)
    guard.close()
  }

  let isClosed: Promise<void> | undefined
  return {
    wake(webhookId) {
      ownership.find(webhookId)?.wake()
      // It may be new, or have lost its lease to a change.
      void beat()
    },
    wakeAccount(accountId) {
      for (const webhook of ownership.webhooks) {
        if (webhook.state?.accountId === accountId) webhook.wakeForEvents()
      }
    },
    webhookIds: () => ownership.webhooks.map(({ lease }) => lease.webhookId),
    close() {
      isClosed ??= close()
      return isClosed
    },
  }
}

function readingsOf(webhooks: OwnedWebhook[]) {
  const states = webhooks.flatMap(({ state }) => state ?? [])
  const oldestMs = Math.min(...states.flatMap(({ waitingSinceMs }) => waitingSinceMs ?? []))
  return {
    owned: webhooks.length,
    lagSeconds: oldestMs === Number.POSITIVE_INFINITY ? 0 : Math.max(0, (Date.now() - oldestMs) / 1000),
    waiting: states.reduce((sum, { waiting }) => sum + waiting, 0),
    failing: states.filter(({ isFailing }) => isFailing).length,
  }
}
