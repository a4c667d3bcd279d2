import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { until } from '../src/harness/until.ts'
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
 * Half of the default pace, with ways of 200 ms. More is not possible: Baileys takes a sender's messages one after the
 * other, and each waits until its keys are stored.
 */
const perMinuteMin = 30

export function linkFaults(find: () => World): void {
  // Fails when a silent connection to Redis is kept for ever.
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

  // Fails when a silent connection to Postgres is kept for ever.
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
    const found = await trial(world, '17 latency and resets', async () => {
      const links = [...world.links('postgres'), ...world.links('redis')]
      for (const link of links) link.worsen({ latencyMs: 200, jitterMs: 100, resetShare: 0.01 })
      await delay(60_000)
      for (const link of links) link.heal()
    })
    const perMinute = countSentDuring(found) / world.senders.length
    const promptMs = untilPromptMs(found, world.senders, found.endedAtMs)
    note('17 latency and resets', { 'sent by a sender a minute': perMinute, 'prompt after ms': promptMs })
    expect(perMinute).toBeGreaterThan(perMinuteMin)
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

function countSentDuring({ messages, faultAtMs, endedAtMs }: Trial): number {
  return messages.filter(({ sentAtMs }) => sentAtMs && sentAtMs >= faultAtMs && sentAtMs < endedAtMs).length
}
