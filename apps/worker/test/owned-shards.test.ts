import { makeLogger } from '@wagate/runtime/logger'
import { expect, test } from 'vitest'
import type { ShardHost } from '../src/ownership/lease.ts'
import { makeOwnedShards } from '../src/ownership/owned-shards.ts'

test('shards that are lost while their start waits for its turn are not started', async () => {
  const started: number[] = []
  let finishStart: (() => void) | undefined
  const host = {
    async start(leases) {
      started.push(...leases.map(({ shard }) => shard))
      await new Promise<void>((resolve) => {
        finishStart = resolve
      })
    },
    stop: async () => undefined,
    linkedDevices: () => 0,
    isPairing: () => false,
  } as ShardHost
  const owned = makeOwnedShards(host, makeLogger('test', 'silent'))
  const claimed = Array.from({ length: 40 }, (_, shard) => ({ shard, epoch: 1, linked: 0 }))
  const adding = owned.add(claimed, { workerId: 'w', isValid: () => true } as never)
  await expect.poll(() => started.length).toBe(32)
  owned.loseAll()
  const stopping = owned.stopLost()
  finishStart?.()
  await stopping
  await adding
  expect(started).toHaveLength(32)
  expect(owned.list()).toEqual([])
})
