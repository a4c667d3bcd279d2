import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { drainPerSecond, longestGapMs } from './pace.ts'
import { expectWithin } from './recovery.ts'
import { stopAnswers } from './silence.ts'
import { isShort, size } from './size.ts'
import { trial, untilNextSentMs } from './trial.ts'
import type { World } from './world.ts'

/** P7, with the senders that a worker has here. */
const takeoverMsMax = 8000
const handoverMsMax = 1000
/** Beside media and people, of whose code nothing is warm yet in a worker that has just started. */
const gapMsMax = 3000
const stopMsMax = 15_000
const quitMsMax = 2000

export function workerFaults(find: () => World): void {
  workersKilled(find)
  workersRestarted(find)
  workersStandStill(find)
}

function workersKilled(find: () => World): void {
  // Fails when a new owner reads only `queued` messages, and not those that the former one was sending.
  it('1: a worker is killed', async () => {
    const world = find()
    const { worker, senders } = await busiestWorker(world)
    let killedAtMs = Number.NaN
    const found = await trial(world, '1 SIGKILL', async () => {
      await stopAnswers(world)
      killedAtMs = Date.now()
      world.devnet.signal(worker, 'SIGKILL')
      await world.phones.clearFaults()
    })
    const nextMs = untilNextSentMs(found, senders, killedAtMs)
    expectWithin(found, { 'first sender ms': Math.min(...nextMs) }, takeoverMsMax)
    expectWithin(found, { 'last sender ms': Math.max(...nextMs) }, takeoverMsMax + 30 * senders.length)
  })

  // Fails when a message gets a new WhatsApp id once it was on its way.
  it.skipIf(isShort)('2: the owner of a message is killed five times before WhatsApp takes it', async () => {
    const world = find()
    const sender = world.senders[0] ?? ''
    const owners = new Set<number>()
    await trial(world, '2 SIGKILL × 5', async () => {
      // A later one may wait behind others whose answers are lost, too: a sender repeats four at a time.
      const waId = await stopAnswers(world, sender)
      for (let kills = 0; kills < 5; kills++) {
        owners.add(await untilSentThroughOther(world, waId, owners))
        const worker = await ownerOf(world, sender)
        world.devnet.signal(worker, 'SIGKILL')
        await until(`${worker} is gone`, { withinMs: 5000, everyMs: 20 }, () => !world.devnet.pid(worker))
        await world.devnet.start(worker)
      }
      owners.add(await untilSentThroughOther(world, waId, owners))
      await world.phones.clearFaults()
    })
    note('2 SIGKILL × 5', { 'owners of one message': owners.size })
  })

  // Fails when a recipient's next message waits for the next poll, a second later.
  it.skipIf(isShort)('3: all workers are killed, and come back after 20 s', async () => {
    const world = find()
    const found = await trial(world, '3 SIGKILL all, 20 s', async () => {
      for (const worker of world.workers) world.devnet.signal(worker, 'SIGKILL')
      await delay(20_000)
      for (const worker of world.workers) await world.devnet.start(worker)
    })
    const perSecond = drainPerSecond(found.texts, found.endedAtMs, size.perSecond / 2)
    note('3 SIGKILL all, 20 s', { 'drained per second': perSecond })
    expect(perSecond * found.stretch).toBeGreaterThan(1.5 * size.perSecond)
  })
}

function workersRestarted(find: () => World): void {
  // Fails when a worker that ends does not release its shards, and when it releases them before it closes its connections.
  it('4: the workers are restarted one after the other', async () => {
    const world = find()
    const before = await world.phones.stats()
    const { worker, senders } = await busiestWorker(world)
    const rest = world.workers.filter((other) => other !== worker)
    const stopMs: number[] = []
    const found = await trial(world, '4 SIGTERM', async () => {
      for (const each of [worker, ...(isShort ? [] : rest)]) {
        const startedAt = performance.now()
        expect(await world.devnet.stop(each)).toEqual({ code: 0, signal: null })
        stopMs.push(performance.now() - startedAt)
        await delay(3000)
        await world.devnet.start(each)
        await delay(isShort ? 0 : 5000)
      }
    })
    const nextMs = untilNextSentMs(found, senders, found.faultAtMs)
    const gapsMs = world.senders.map((sender) => longestGapMs(found.texts, sender, found.faultAtMs))
    note('4 SIGTERM', { 'last sender ms': Math.max(...nextMs) })
    expect((await world.phones.stats()).conflicts).toBe(before.conflicts)
    expectWithin(found, { 'slowest stop ms': Math.max(...stopMs) }, stopMsMax)
    // The short form has too few senders: none of them may have sent something in that second.
    if (isShort) return
    expectWithin(found, { 'first sender ms': Math.min(...nextMs) }, handoverMsMax)
    expectWithin(found, { 'longest gap of a sender ms': Math.max(...gapsMs) }, gapMsMax)
  })
}

function workersStandStill(find: () => World): void {
  // Fails when the fence compares neither owner nor epoch.
  it('5: a worker is stopped for longer than its lease and wakes up', async () => {
    const world = find()
    await outlive(world, '5 SIGSTOP', async (worker) => {
      world.devnet.signal(worker, 'SIGSTOP')
      await delay(isShort ? 9000 : 30_000)
      world.devnet.signal(worker, 'SIGCONT')
    })
  })

  // Fails like 5.
  it.skipIf(isShort)("6: a worker's event loop stands still for 15 s", async () => {
    const world = find()
    await outlive(world, '6 blocked', async (worker) => {
      world.devnet.signal(worker, 'SIGHUP')
      await delay(15_000)
    })
  })
}

/** A worker stands still for longer than its lease. When it goes on it quits at once, and its senders stay where they are. */
async function outlive(
  world: World,
  name: string,
  standStill: (worker: string) => Promise<void>,
): Promise<void> {
  const { worker, senders } = await busiestWorker(world)
  const before = await world.phones.stats()
  const { worker_id: formerId } = await world.health(worker)
  let quitMs = Number.NaN
  const found = await trial(world, name, async () => {
    // Their answers wait for it when it wakes up: it will want to write them down.
    await leaveUnanswered(world)
    const still = standStill(worker)
    await delay(1500)
    await world.phones.clearFaults()
    await still
    const wokenAt = performance.now()
    await until('the former owner has quit', { withinMs: stopMsMax, everyMs: 20 }, async () => {
      const { worker_id: id, owned_shards: owned } = await world.health(worker)
      return id !== formerId || owned === 0
    })
    quitMs = performance.now() - wokenAt
  })
  const conflicts = (await world.phones.stats()).conflicts - before.conflicts
  note(name, { 'connections taken over': conflicts })
  expectWithin(found, { 'quits after ms': quitMs }, quitMsMax)
  expect(conflicts).toBeLessThanOrEqual(senders.length)
}

/** Every recipient has a message on its way whose answer takes another second. */
async function leaveUnanswered(world: World): Promise<void> {
  await world.fault({ kind: 'ack_delay', ms: 1500 })
  await delay(500)
}

async function busiestWorker(world: World): Promise<{ worker: string; senders: string[] }> {
  const held = await Promise.all(
    world.workers.map(async (worker) => ({ worker, senders: await world.records.listSendersOf(worker) })),
  )
  return held.reduce((most, each) => (each.senders.length > most.senders.length ? each : most))
}

async function ownerOf(world: World, sender: string): Promise<string> {
  return until(`${sender} has an owner`, { withinMs: 10_000, everyMs: 50 }, async () => {
    for (const worker of world.workers)
      if ((await world.records.listSendersOf(worker)).includes(sender)) return worker
    return undefined
  })
}

/** Resolves to a connection that is none of `known`. */
async function untilSentThroughOther(world: World, waId: string, known: Set<number>): Promise<number> {
  const find = async () => {
    const lines = (await world.phones.log()).filter((line) => line.wa_message_id === waId)
    return lines.findLast(({ connection }) => !known.has(connection))?.connection
  }
  const what = `${waId} leaves through a connection after ${[...known]}`
  try {
    return await until(what, { withinMs: 30_000, everyMs: 300 }, find)
  } catch (error) {
    throw new Error(JSON.stringify(await world.records.explainMessage(waId)), { cause: error })
  }
}
