import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { moveToSmallDisk } from './postgres-disk.ts'
import { expectRefusals, expectWithin, untilAcceptedMs, untilPromptMs } from './recovery.ts'
import { isShort } from './size.ts'
import { type Trial, trial } from './trial.ts'
import type { World } from './world.ts'

const backMsMax = 3000

export function postgresFaults(find: () => World): void {
  function expectNormal(found: Trial): void {
    const { endedAtMs } = found
    const times = {
      'accepted after ms': untilAcceptedMs(found, endedAtMs),
      'prompt after ms': untilPromptMs(found, find().senders, endedAtMs),
    }
    expectWithin(found, times, backMsMax)
  }

  async function read(operation: string): Promise<number> {
    const { apiUrl, adminKey } = find().devnet
    const headers = { 'x-api-key': adminKey.apiKey ?? '' }
    return (await fetch(`${apiUrl}/${operation}`, { headers })).status
  }

  // Fails when messages are accepted before they are on the disk, and when another statement stores their keys.
  it('12: Postgres is killed and started again', async () => {
    const { devnet } = find()
    const found = await trial(find(), '12 Postgres killed', async () => {
      devnet.signal('postgres', 'SIGKILL')
      await delay(2000)
      await devnet.start('postgres')
    })
    expectRefusals(found, 'unavailable')
    expectNormal(found)
  })

  // Fails when requests have no deadline.
  it.skipIf(isShort)('13: Postgres does not answer for 15 s', async () => {
    const links = find().links('postgres')
    const found = await trial(find(), '13 Postgres frozen', async () => {
      for (const link of links) link.freeze()
      await delay(15_000)
      for (const link of links) link.heal()
    })
    expectRefusals(found, 'unavailable')
    expectNormal(found)
    // No sender may send, and none needs to log in again.
    expect([...(await find().loginsSince(found.faultAtMs)).keys()]).toEqual([])
  })

  // Fails when a full disk is taken for an outage.
  it.skipIf(isShort)('14: the disk of Postgres is full', async ({ skip }) => {
    const { devnet, recover } = find()
    const disk = await moveToSmallDisk(devnet.databaseUrl)
    if (typeof disk === 'string') return skip(disk)
    try {
      await recover()
      const found = await trial(find(), '14 disk full', async (load) => {
        disk.fill()
        await until('a send is refused', { withinMs: 15_000, everyMs: 50 }, () =>
          load.sent.some(({ attempts }) => attempts.some(({ status }) => status === 503)),
        )
        for (const operation of ['messages', 'devices', 'user-info']) expect(await read(operation)).toBe(200)
        await delay(10_000)
        disk.free()
      })
      expectRefusals(found, 'storage_full')
      expectNormal(found)
    } finally {
      disk.free()
      await recover()
      await disk.moveBack()
    }
  })
}
