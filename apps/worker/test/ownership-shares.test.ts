import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseWave, waveSize } from '../src/ownership/hand-over.ts'
import { chooseReleases, orderForRelease, planReleases } from '../src/ownership/releases.ts'
import { chooseClaims, fairShare, withoutReceiver } from '../src/ownership/shares.ts'

const shardCounts = fc.integer({ min: 1, max: 4096 })
const workerCounts = fc.integer({ min: 1, max: 60 })
const shardList = fc
  .array(fc.integer({ min: 0, max: 20 }), { maxLength: 50 })
  .map((linked) => linked.map((count, shard) => ({ shard, linked: count })))

test('shares add up to all shards and differ by one at most', () => {
  fc.assert(
    fc.property(shardCounts, workerCounts, (shards, workers) => {
      const shares = sharesOf(shards, workers)
      expect(sum(shares)).toBe(shards)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    }),
  )
})

test('a worker that joins grows no share, one that leaves shrinks none', () => {
  fc.assert(
    fc.property(shardCounts, workerCounts, fc.nat(), (shards, workers, seed) => {
      const before = sharesOf(shards, workers)
      const joined = sharesOf(shards, workers + 1)
      for (const [rank, share] of before.entries()) expect(joined[rank]).toBeLessThanOrEqual(share)
      const left = sharesOf(shards, workers - 1)
      const survivors = before.filter((_, rank) => rank !== seed % workers)
      for (const [rank, share] of survivors.entries()) expect(left[rank]).toBeGreaterThanOrEqual(share)
    }),
  )
})

test('claims no more shards than are wanted and fit', () => {
  fc.assert(
    fc.property(
      shardList,
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: -5, max: 200 }),
      (unowned, wanted, room) => {
        const load = { linked: 0, capacity: room, largestCapacity: Number.POSITIVE_INFINITY }
        const chosen = chooseClaims(unowned, wanted, load)
        const linked = sum(chosen.map((shard) => unowned[shard]?.linked ?? 0))
        expect(chosen.length).toBeLessThanOrEqual(wanted)
        expect(linked).toBeLessThanOrEqual(Math.max(0, room))
        const idle = unowned.filter((shard) => shard.linked === 0).length
        expect(chosen.length).toBeGreaterThanOrEqual(Math.min(wanted, idle))
      },
    ),
  )
})

test('releases the cheapest shards, no more than the receivers miss and have room for', () => {
  const receiverLists = fc.array(
    fc.record({
      missing: fc.integer({ min: -5, max: 20 }),
      load: fc.record({
        linked: fc.integer({ min: 0, max: 105 }),
        capacity: fc.constant(100),
        largestCapacity: fc.constantFrom(10, 100),
      }),
    }),
    { maxLength: 5 },
  )
  const limitPairs = fc.record({ shards: fc.integer({ min: -3, max: 60 }), devices: fc.nat(40) })
  fc.assert(
    fc.property(shardList, receiverLists, limitPairs, (held, receivers, limits) => {
      const chosen = chooseReleases(held, receivers, limits)
      const linked = sum(chosen.map((shard) => held[shard]?.linked ?? 0))
      expect(chosen).toEqual(held.slice(0, chosen.length).map(({ shard }) => shard))
      expect(chosen.length).toBeLessThanOrEqual(Math.max(0, limits.shards))
      expect(chosen.length).toBeLessThanOrEqual(sum(receivers.map(({ missing }) => Math.max(0, missing))))
      expect(linked).toBeLessThanOrEqual(
        sum(receivers.map(({ load }) => Math.max(0, load.capacity - load.linked))),
      )
      if (chosen.length > 1) expect(linked).toBeLessThanOrEqual(limits.devices)
    }),
  )
})

test('releases linked devices up to the surplus first, then cheap shards, and forgets none', () => {
  const held = [0, 0, 1, 1, 2, 5].map((linked, shard) => ({ shard, linked }))
  const orderOf = (surplus: number) => orderForRelease(held, surplus).map(({ shard }) => shard)
  expect(orderOf(0)).toEqual([0, 1, 2, 3, 4, 5])
  expect(orderOf(3)).toEqual([2, 3, 0, 1, 4, 5])
  expect(orderOf(4)).toEqual([2, 3, 4, 0, 1, 5])
  fc.assert(
    fc.property(shardList, fc.integer({ min: -5, max: 200 }), (shards, surplus) => {
      expect(orderForRelease(shards, surplus)).toHaveLength(shards.length)
      expect(new Set(orderForRelease(shards, surplus))).toEqual(new Set(shards))
    }),
  )
})

test('releases no more devices at a time than the receivers log in within a second', () => {
  const movable = Array.from({ length: 10 }, (_, shard) => ({ shard, linked: 1 }))
  const load = { linked: 0, capacity: 500, largestCapacity: 500 }
  const newcomer = { missing: 10, load, opening: 0 }
  const full = { missing: 0, load, opening: 40 }
  const plan = (opening: number, unowned: { linked: number }[], other = full) =>
    planReleases({ movable, excess: 10, surplusDevices: 60, unowned }, [{ ...newcomer, opening }, other])
  expect(plan(0, [])).toHaveLength(2)
  expect(plan(1, [])).toHaveLength(1)
  expect(plan(2, [])).toEqual([])
  // Shards that another worker has released go to the newcomer as well.
  expect(plan(1, [{ linked: 1 }])).toEqual([])
  expect(plan(2, [], newcomer)).toHaveLength(2)
  // Shards with many devices go to each receiver one at a time.
  expect(plan(2, [{ linked: 24 }], newcomer)).toEqual([])
  expect(plan(0, [{ linked: 24 }], newcomer)).toHaveLength(2)
})

test('hands over in waves of limited size, shards without devices with the last wave', () => {
  fc.assert(
    fc.property(shardList, (held) => {
      const size = waveSize(sum(held.map(({ linked }) => linked)), 1)
      const waves: (typeof held)[] = []
      for (let left = held; left.length > 0; ) {
        const wave = chooseWave(left, size)
        waves.push(wave)
        left = left.filter((shard) => !wave.includes(shard))
      }
      expect(new Set(waves.flat())).toEqual(new Set(held))
      // Shards are not split, so only two waves together are at least as large as the wave size.
      expect(waves.length).toBeLessThanOrEqual(24)
      for (const wave of waves.slice(0, -1)) expect(wave.every(({ linked }) => linked > 0)).toBe(true)
      for (const wave of waves.filter((given) => given.filter(({ linked }) => linked > 0).length > 1))
        expect(sum(wave.map(({ linked }) => linked))).toBeLessThanOrEqual(size)
    }),
  )
})

test('leaves shards to workers below their share that have room', () => {
  const receivers = [
    { missing: 2, load: { linked: 97, capacity: 100, largestCapacity: 100 } },
    { missing: 0, load: { linked: 50, capacity: 100, largestCapacity: 100 } },
    { missing: 9, load: { linked: 100, capacity: 100, largestCapacity: 100 } },
  ]
  const unowned = [4, 3, 0, 1, 0].map((linked, shard) => ({ shard, linked }))
  expect(withoutReceiver(unowned, receivers).map(({ shard }) => shard)).toEqual([0, 3])
})

test.each([
  ['an empty worker', 0, true],
  ['a worker that is half full', 50, true],
  ['a worker that is more than half full', 51, false],
])('an oversized shard is claimed by a worker that is at most half full: %s', (_, linked, isTaken) => {
  const load = { linked, capacity: 100, largestCapacity: 100 }
  expect(chooseClaims([{ shard: 7, linked: 101 }], 1, load)).toEqual(isTaken ? [7] : [])
})

test('claims one oversized shard and then no other shard with devices', () => {
  const unowned = [101, 102, 1, 0].map((linked, shard) => ({ shard, linked }))
  expect(chooseClaims(unowned, 4, { linked: 0, capacity: 100, largestCapacity: 100 })).toEqual([0, 3])
})

test('leaves a shard to a larger worker that has the capacity for it', () => {
  const load = { linked: 0, capacity: 100, largestCapacity: 500 }
  expect(chooseClaims([{ shard: 0, linked: 101 }], 1, load)).toEqual([])
})

test('never releases an oversized shard, so that it does not move back and forth', () => {
  const receiver = { missing: 1, load: { linked: 0, capacity: 100, largestCapacity: 100 }, opening: 0 }
  const surplus = { movable: [{ shard: 0, linked: 101 }], excess: 1, surplusDevices: 101, unowned: [] }
  expect(planReleases(surplus, [receiver])).toEqual([])
})

function sharesOf(shards: number, workers: number): number[] {
  return Array.from({ length: workers }, (_, rank) => fairShare(shards, rank, workers))
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
