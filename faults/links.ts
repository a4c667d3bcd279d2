import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { expectAllAccepted, expectWithin, untilPromptMs } from './recovery.ts'
import { isShort } from './size.ts'
import { type Trial, trial } from './trial.ts'
import type { World } from './world.ts'

const redisBackMsMax = 10_000
const postgresBackMsMax = 5000
/** The lease of an owner that cannot renew it, and a second. */
const sendingMsMax = 7000
const partitionMs = 15_000
/**
 * The default pace of a sender. With ways of 200 ms no sender reaches the rate of the other trials: Baileys takes its
 * messages one after the other, and each waits until its keys are stored.
 */
const perSecondOfSender = 1
const rateMin = 0.5
const undisturbedMs = 15_000

export function linkFaults(find: () => World): void {
  // Fails when a silent connection to Redis is never closed.
  it.skipIf(isShort)('15: nothing passes between a worker and Redis for 15 s', async () => {
    const world = find()
    const senders = await world.records.listSendersOf('worker-1')
    const link = world.link('worker-1', 'redis')
    const found = await trial(world, '15 worker without Redis', async () => {
      link.freeze()
      await delay(partitionMs)
      link.forget()
    })
    expectAllAccepted(found)
    const promptMs = untilPromptMs(found, senders, found.endedAtMs)
    expectWithin(found, { 'prompt after ms': promptMs }, redisBackMsMax)
  })

  // Fails when a silent connection to Postgres is never closed.
  it.skipIf(isShort)('16: nothing passes between a worker and Postgres for 15 s', async () => {
    const world = find()
    const senders = await world.records.listSendersOf('worker-1')
    const link = world.link('worker-1', 'postgres')
    let backMs = 0
    const found = await trial(world, '16 worker without Postgres', async () => {
      link.freeze()
      await delay(partitionMs)
      link.forget()
      const healedAtMs = Date.now()
      await until('the worker owns shards again', { withinMs: 60_000, everyMs: 20 }, async () => {
        const { 'worker-1': owned = 0 } = await world.records.countShards()
        return owned > 0
      })
      backMs = Date.now() - healedAtMs
    })
    expectAllAccepted(found)
    expect(senders).not.toEqual([])
    const sendingMs = lastThroughOldConnectionsMs(found, senders)
    expectWithin(found, { 'cut-off worker sent for ms': sendingMs }, sendingMsMax)
    expectWithin(found, { 'worker back after ms': backMs }, postgresBackMsMax)
    // The senders of the other worker keep their connections.
    const loggedIn = [...(await world.loginsSince(found.faultAtMs)).keys()]
    expect(loggedIn.filter((sender) => !senders.includes(sender))).toEqual([])
  })

  // Fails when a recipient's next message does not wait for one that could not be sent for now.
  it.skipIf(isShort)('17: slow and torn connections to Postgres and Redis for 60 s', async () => {
    const world = find()
    const fault = async () => {
      const links = [...world.links('postgres'), ...world.links('redis')]
      for (const link of links) link.worsen({ latencyMs: 200, jitterMs: 100, resetShare: 0.01 })
      await delay(60_000)
      for (const link of links) link.heal()
    }
    const perSecond = perSecondOfSender * world.senders.length
    const found = await trial(world, '17 latency and resets', fault, { perSecond, beforeMs: undisturbedMs })
    const { texts, faultAtMs, endedAtMs } = found
    // The first messages to a contact take longer.
    const before = sentPerSecond(texts, faultAtMs - undisturbedMs / 2, faultAtMs)
    const during = sentPerSecond(texts, faultAtMs, endedAtMs)
    const promptMs = untilPromptMs(found, world.senders, endedAtMs)
    note('17 latency and resets', {
      'sent a second before': before,
      'sent a second': during,
      'prompt after ms': promptMs,
    })
    expect(during / before).toBeGreaterThanOrEqual(rateMin)
  })
}

/** From the fault on, through connections that were open before it. */
function lastThroughOldConnectionsMs({ log, faultAtMs }: Trial, senders: string[]): number {
  const lines = log
    .filter(({ sender }) => senders.includes(sender))
    .map((line) => ({ ...line, atMs: Date.parse(line.t) }))
  const old = new Set(lines.filter(({ atMs }) => atMs < faultAtMs).map(({ connection }) => connection))
  const last = Math.max(...lines.filter(({ connection }) => old.has(connection)).map(({ atMs }) => atMs))
  return last - faultAtMs
}

function sentPerSecond(texts: Trial['texts'], fromMs: number, toMs: number): number {
  const sent = texts.filter(({ sentAtMs }) => sentAtMs && sentAtMs >= fromMs && sentAtMs < toMs)
  return (1000 * sent.length) / (toMs - fromMs)
}
