import type { EventHints } from '@wagate/queue/event-hints'
import { spread } from '@wagate/test-kit/statistics'
import type { System } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { startProcessMeter, type Usages } from '../process-meter.ts'
import { addWebhook } from '../subscribers/add-webhook.ts'
import { openWebhookTarget, type WebhookTarget } from '../subscribers/webhook-target.ts'
import { causeEvents } from './cause-events.ts'
import type { EventAccount } from './event-account.ts'
import { eventsMax } from './subscribers.ts'

export const besides = [
  'nothing',
  'a dead target of another account',
  'a dead target of its account',
] as const
export type Beside = (typeof besides)[number]

export type LatencyRound = {
  beside: Beside
  events: number
  delivered: number
  /** From the acceptance of the event until its request has arrived. */
  waitMs: { p50: number; p99: number; max: number }
  usages: Usages
}

export type LatencySize = { perSecond: number; ms: number }

/** 10,000 a minute. A dead target of the same account gets all its events, which are more. */
const ofDeadPerSecond = 167
const deliverMs = 60_000

type Accounts = { account: EventAccount; other: EventAccount }

/** How long events wait for a healthy webhook: alone, and beside one whose target never answers. */
export async function measureLatency(
  beside: Beside,
  { devnet }: System,
  { account, other }: Accounts,
  { hints, size, signal }: { hints: EventHints; size: LatencySize; signal: AbortSignal },
): Promise<LatencyRound> {
  const [healthy, dead] = [await openWebhookTarget('healthy'), await openWebhookTarget('silent')]
  const deletions = [await addWebhook(account.gateway, { url: healthy.url, eventsMax })]
  const ofDead = { nothing: undefined, [besides[1]]: other, [besides[2]]: account }[beside]
  if (ofDead) deletions.push(await addWebhook(ofDead.gateway, { url: dead.url, eventsMax: 1 }))
  try {
    const before = await untilOwned(healthy, account, { hints, signal })
    const meter = startProcessMeter(devnet)
    const work = { ms: size.ms, signal }
    const [events] = await Promise.all([
      causeEvents(account, hints, { ...work, perSecond: size.perSecond }),
      ofDead === other && causeEvents(other, hints, { ...work, perSecond: ofDeadPerSecond }),
    ])
    await until('all events are delivered', { withinMs: deliverMs, everyMs: 20 }, () => {
      return healthy.events.length >= before + events
    }).catch(() => undefined)
    const waits = healthy.events.slice(before)
    return {
      beside,
      events,
      delivered: waits.length,
      waitMs: spread(waits.map(({ recordedAtMs, readAtMs }) => readAtMs - recordedAtMs)),
      usages: meter.stop(),
    }
  } finally {
    for (const deleteWebhook of deletions) await deleteWebhook()
    healthy.close()
    dead.close()
  }
}

/** A new webhook has no dispatcher for a moment. Resolves to the number of events that have arrived. */
async function untilOwned(
  { events }: WebhookTarget,
  account: EventAccount,
  { hints, signal }: { hints: EventHints; signal: AbortSignal },
): Promise<number> {
  const caused = await causeEvents(account, hints, { perSecond: 20, ms: 500, signal })
  await until('the webhook has a dispatcher', { withinMs: deliverMs, everyMs: 20 }, () => {
    return events.length >= caused
  })
  return events.length
}
