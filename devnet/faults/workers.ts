import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { isShort } from './size.ts'
import { trial, untilNextSentMs } from './trial.ts'
import type { World } from './world.ts'

/** P7, with the senders that a worker has here. */
const takeoverMsMax = 8000
const handoverMsMax = 1000

export function workerFaults(find: () => World): void {
  async function busiest(): Promise<{ worker: string; senders: string[] }> {
    const { workers, records } = find()
    const held = await Promise.all(
      workers.map(async (worker) => ({ worker, senders: await records.listSendersOf(worker) })),
    )
    return held.reduce((most, each) => (each.senders.length > most.senders.length ? each : most))
  }

  it('1: a worker is killed', async () => {
    const world = find()
    const { worker, senders } = await busiest()
    const found = await trial(world, '1 SIGKILL', async () => world.devnet.signal(worker, 'SIGKILL'))
    const nextMs = untilNextSentMs(found, senders, found.faultAtMs)
    note('1 SIGKILL', { 'first sender ms': Math.min(...nextMs), 'last sender ms': Math.max(...nextMs) })
    expect(Math.max(...nextMs)).toBeLessThan(takeoverMsMax + 30 * senders.length)
  })

  it.skipIf(isShort)('2: the owner is killed five times in a row', async () => {
    const world = find()
    await trial(world, '2 SIGKILL × 5', async () => {
      for (let kills = 0; kills < 5; kills++) {
        const { worker } = await busiest()
        world.devnet.signal(worker, 'SIGKILL')
        await delay(3000)
        await world.devnet.start(worker)
      }
    })
  })

  it.skipIf(isShort)('3: all workers are killed, and come back after 20 s', async () => {
    const world = find()
    await trial(world, '3 SIGKILL all, 20 s', async () => {
      for (const worker of world.workers) world.devnet.signal(worker, 'SIGKILL')
      await delay(20_000)
      for (const worker of world.workers) await world.devnet.start(worker)
    })
  })

  it('4: the workers are restarted one after the other', async () => {
    const world = find()
    const before = await world.phones.stats()
    const { worker, senders } = await busiest()
    const rest = world.workers.filter((other) => other !== worker)
    const found = await trial(world, '4 SIGTERM', async () => {
      for (const each of [worker, ...(isShort ? [] : rest)]) {
        await world.devnet.stop(each)
        await delay(3000)
        await world.devnet.start(each)
        await delay(isShort ? 0 : 5000)
      }
    })
    const nextMs = untilNextSentMs(found, senders, found.faultAtMs)
    note('4 SIGTERM', { 'first sender ms': Math.min(...nextMs), 'last sender ms': Math.max(...nextMs) })
    expect((await world.phones.stats()).conflicts).toBe(before.conflicts)
    // Of CPU alone it may take longer on a busy machine.
    if (!isShort) expect(Math.min(...nextMs)).toBeLessThan(handoverMsMax)
  })

  it('5: a worker is stopped for longer than its lease and wakes up', async () => {
    const world = find()
    const { worker } = await busiest()
    await trial(world, '5 SIGSTOP', async () => {
      world.devnet.signal(worker, 'SIGSTOP')
      await delay(isShort ? 9000 : 30_000)
      world.devnet.signal(worker, 'SIGCONT')
    })
  })
}
