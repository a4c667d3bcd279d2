import { setTimeout as delay } from 'node:timers/promises'
import { askRedis } from '@wagate/local-servers/ask-redis'
import { quantile } from '@wagate/test-kit/statistics'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { baselineForMs, p99BeforeMs, p99Ms, undisturbedMs } from './measures.ts'
import { expectWithin } from './recovery.ts'
import { isShort, size } from './size.ts'
import { trial } from './trial.ts'
import {
  failingTargets,
  isForgotten,
  openWebhookTargets,
  pouringTarget,
  targetPaths,
  unreliableTarget,
  type WebhookTargets,
} from './webhook-targets.ts'
import type { World } from './world.ts'

/** The first messages to new contacts take the workers' CPU. */
const warmUpMs = isShort ? 8000 : baselineForMs
/** All targets get all events, which on two slow cores is more than there is room for besides the load of other trials. */
const perSecond = isShort ? size.perSecond / 2 : size.perSecond
/** How long targets fail before anything else does. */
const failingForMs = isShort ? 10_000 : 30_000
/** The short form has a few seconds, soon after the start of the workers. */
const healthyP99MsMax = isShort ? 2000 : 1000
/** The first failures, those in flight with them, and probes. */
const requestsMax = 40
const firstRetryMs = { least: 4500, most: 15_000 }
/** A connection takes that much before it notices that the other side does not read. */
const pouredBytesMax = 8 * 2 ** 20
const retriedWithinMs = 90_000
const knownWithinMs = 40_000

export function webhookFaults(find: () => World): void {
  // Fails when the position of a webhook moves before its requests are answered, when redirects are followed, and when a
  // target that fails keeps the others waiting.
  it('27: targets of webhooks fail in every way, and what delivers to them is killed', async () => {
    const world = find()
    const targets = await openWebhookTargets()
    const webhooks = new Map<string, unknown>()
    let beganAtMs = 0
    let disturbedAtMs = 0
    const fault = async () => {
      await delay(warmUpMs)
      for (const path of targetPaths) {
        const { body } = await world.gateway.call('set-webhook', { url: targets.url(path), name: path })
        webhooks.set(path, body.webhook_id)
      }
      beganAtMs = Date.now()
      await delay(failingForMs)
      disturbedAtMs = Date.now()
      await killEverything(world)
    }
    try {
      const found = await trial(world, '27 webhook targets', fault, { perSecond })
      // What is on its way when the first worker is killed waits for another one.
      const delaysMs = world.subscriber.delaysMs(beganAtMs, disturbedAtMs - healthyP99MsMax)
      expectWithin(found, { 'p99 of a healthy target ms': quantile(delaysMs, 0.99) }, healthyP99MsMax)
      if (!isShort) {
        const baselineMs = p99BeforeMs(found.texts, world.senders, beganAtMs)
        const textMs = p99Ms(found.texts, world.senders, beganAtMs, disturbedAtMs)
        note(found.name, { 'p99 of texts before ms': baselineMs, 'p99 of texts ms': textMs })
        expect(textMs).toBeLessThan(undisturbedMs(baselineMs))
      }
      await expectBadTargetsLeftAlone(world, targets)
      await expectForgottenRepeated(targets)
    } finally {
      for (const webhook_id of webhooks.values()) await world.gateway.call('delete-webhook', { webhook_id })
      targets.close()
    }
  })
}

/** One after the other: workers, which deliver; Redis and what it knows; Postgres stands still. */
async function killEverything({ devnet, workers, startWhatDied }: World): Promise<void> {
  for (const worker of workers) {
    devnet.signal(worker, 'SIGKILL')
    await delay(2000)
    await startWhatDied()
  }
  await askRedis(new URL(devnet.redisUrl), [['FLUSHALL']])
  devnet.signal('postgres', 'SIGSTOP')
  await delay(3000)
  devnet.signal('postgres', 'SIGCONT')
  for (const worker of workers) devnet.signal(worker, 'SIGKILL')
  await delay(1000)
  await startWhatDied()
}

async function expectBadTargetsLeftAlone({ gateway }: World, targets: WebhookTargets): Promise<void> {
  const expected = Object.entries(failingTargets).map((state) => state.join(' '))
  const listStates = async () => {
    const { body } = await gateway.get('webhooks', {})
    return (body.webhooks as { name: string; state: string; disabled_reason: string | null }[]).map(
      ({ name, state, disabled_reason }) => `${name} ${disabled_reason ?? state}`,
    )
  }
  // A target that does not answer is known as failing once a request to it has timed out.
  await expect
    .poll(listStates, { timeout: knownWithinMs, interval: 500 })
    .toEqual(expect.arrayContaining(expected))
  for (const path of Object.keys(failingTargets)) {
    expect(targets.requests(path), path).toBeGreaterThan(0)
    expect(targets.requests(path), path).toBeLessThan(requestsMax)
  }
  expect(targets.secretsGiven()).toBe(0)
  expect(targets.pouredBytes() / targets.requests(pouringTarget)).toBeLessThan(pouredBytesMax)
}

/** Each event that the unreliable target did not take was repeated, the first time as the schedule says. */
async function expectForgottenRepeated({ attempts }: WebhookTargets): Promise<void> {
  const forgotten = () =>
    [...(attempts[unreliableTarget] ?? [])].filter(([id]) => isForgotten(id)).map(([, at]) => at)
  await until('forgotten events are repeated', { withinMs: retriedWithinMs, everyMs: 200 }, () =>
    forgotten().every((at) => at.length > 1),
  )
  const gapsMs = forgotten().map(([first = 0, second = 0]) => second - first)
  note('27 webhook targets', { repeated: gapsMs.length, 'first repeat p50 ms': quantile(gapsMs, 0.5) })
  expect(gapsMs.length).toBeGreaterThan(0)
  expect(quantile(gapsMs, 0.5)).toBeGreaterThan(firstRetryMs.least)
  expect(quantile(gapsMs, 0.5)).toBeLessThan(firstRetryMs.most)
}
