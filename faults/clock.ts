import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

const leaseMs = 6000
/** Debian's package libfaketime, or LIBFAKETIME. */
const library = [
  process.env.LIBFAKETIME,
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
].find((file) => file && existsSync(file))

export function clockFaults(find: () => World): void {
  // Fails when leases or idempotency keys end by the clock of a process.
  it.skipIf(isShort)('23: the clocks of a worker and of the API jump', async ({ skip }) => {
    if (!library) return skip('libfaketime is not installed')
    const world = find()
    const clocks = await restartWithOwnClocks(world, library, ['worker-1', 'api'])
    try {
      await expectNoHarm(world, clocks)
    } finally {
      await clocks.remove()
    }
  })
}

async function expectNoHarm(world: World, clocks: Clocks): Promise<void> {
  const { worker_id: id } = await world.health('worker-1')
  const text = `before the jumps ${Date.now()}`
  const fields = { sender: world.senders[0], number: '15550009999', message: text, idempotency_key: text }
  const first = await world.gateway.call('send-message', { ...fields, wait: 20 })
  expect(first.body.status).not.toBe('queued')

  const { messages, texts } = await trial(world, '23 clocks', async () => {
    for (const shift of ['+1h', '-2h']) {
      clocks.set(shift)
      await expectOwnerFor(world, 'worker-1', id, leaseMs + 2000)
    }
  })
  const endedAtMs = Date.now()
  const wrong = messages.filter(({ createdAtMs, sentAtMs }) => {
    return sentAtMs !== null && (sentAtMs < createdAtMs || sentAtMs > endedAtMs)
  })
  expect(wrong).toEqual([])
  expect(texts.filter(({ sentAtMs }) => sentAtMs === null)).toEqual([])

  // Further than a key counts.
  clocks.set('+25h')
  const again = await world.gateway.call('send-message', fields)
  expect(again.body.message_id).toBe(first.body.message_id)
  clocks.set('+0')
  // Until the lease was renewed by the right clock.
  await delay(leaseMs / 2)
  await expectLeaseToLapse(world, 'worker-1', () => clocks.set('-2h'))
}

/** A lease that is not renewed ends in time, even if the clock is wrong. */
async function expectLeaseToLapse(world: World, worker: string, jump: () => void): Promise<void> {
  const link = world.link(worker, 'postgres')
  link.freeze()
  await delay(500)
  jump()
  await until('the lease has lapsed', { withinMs: leaseMs, everyMs: 50 }, async () => {
    return !(await world.health(worker)).lease_valid
  })
  link.heal()
}

async function expectOwnerFor(world: World, worker: string, id: string, forMs: number): Promise<void> {
  const endsAt = performance.now() + forMs
  while (performance.now() < endsAt) {
    expect(await world.health(worker)).toMatchObject({ worker_id: id, lease_valid: true })
    await delay(50)
  }
}

type Clocks = { set(shift: string): void; remove(): Promise<void> }

/** Their wall clocks follow a file; the monotonic clock, and those of everybody else, stay right. */
async function restartWithOwnClocks(world: World, preload: string, names: string[]): Promise<Clocks> {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-clocks-'))
  const file = join(folder, 'shift')
  const set = (shift: string) => writeFileSync(file, `${shift}\n`)
  set('+0')

  async function restart(): Promise<void> {
    for (const name of names) {
      await world.devnet.stop(name)
      await world.devnet.start(name)
    }
    await world.recover()
  }

  for (const name of names)
    world.settings.set(name, {
      LD_PRELOAD: preload,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    })
  await restart()
  return {
    set,
    async remove() {
      for (const name of names) world.settings.delete(name)
      await restart()
      rmSync(folder, { recursive: true })
    },
  }
}
