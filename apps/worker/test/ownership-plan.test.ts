import { expect, test } from 'vitest'
import { afterClaim, emptyMemory, type Memory, needsDeviceCounts, planTick } from '../src/ownership/plan.ts'
import type { View } from '../src/ownership/view.ts'

const tickMs = 500
const nowMs = 100_000

/** 8 shards, two workers with a capacity of 100, and no devices. `b` started last. */
function viewOf(given: Partial<View> & { owns?: [number, number] }): View {
  const { owns: [a, b] = [0, 0], ...rest } = given
  return {
    nowMs,
    selfId: 'b',
    capacity: 100,
    shards: 8,
    tickMs,
    workers: [
      { id: 'a', capacity: 100, owned: a, deathInMs: 5000, isSuspect: false },
      { id: 'b', capacity: 100, owned: b, deathInMs: 5000, isSuspect: false },
    ],
    unowned: [],
    owned: shardsOf(b),
    ...rest,
  }
}

const shardsOf = (count: number, linked = 0) =>
  Array.from({ length: count }, (_, shard) => ({ shard, linked, isMovable: true }))

const unownedFor = (ticks: number, ...shards: number[]): Memory => ({
  ...emptyMemory,
  unownedSinceMs: new Map(shards.map((shard) => [shard, nowMs - ticks * tickMs - 1])),
})

const counts = (a: number, b: number, opening = 0) =>
  new Map([
    ['a', { linked: a, opening }],
    ['b', { linked: b, opening: 0 }],
  ])

const plan = (view: View, memory = emptyMemory) => planTick(view, memory, () => 0.5)

test.each<{ name: string; view: View; memory?: Memory; claim?: number[]; release?: number[] }>([
  {
    name: 'claims what it is below its share, and no more',
    view: viewOf({ owns: [2, 2], unowned: shardsOf(4) }),
    claim: [0, 1],
  },
  {
    name: 'claims only what it has room for',
    view: viewOf({
      owns: [4, 0],
      capacity: 5,
      unowned: [4, 3, 2].map((linked, shard) => ({ shard, linked })),
    }),
    claim: [0],
  },
  {
    name: 'claims nothing at its share',
    view: viewOf({ owns: [3, 4], unowned: shardsOf(1), deviceCounts: counts(0, 0) }),
    claim: [],
  },
  {
    name: 'leaves a stale shard to a worker below its share that has room',
    view: viewOf({ owns: [3, 4], unowned: shardsOf(1), deviceCounts: counts(0, 0) }),
    memory: unownedFor(5, 0),
    claim: [],
  },
  {
    name: 'claims a stale shard that no worker below its share has room for',
    view: viewOf({ owns: [3, 4], unowned: shardsOf(1, 10), deviceCounts: counts(95, 0) }),
    memory: unownedFor(5, 0),
    claim: [0],
  },
  {
    name: 'claims a forgotten shard although another worker has room',
    view: viewOf({ owns: [3, 4], unowned: shardsOf(1), deviceCounts: counts(0, 0) }),
    memory: unownedFor(31, 0),
    claim: [0],
  },
  {
    name: 'claims an oversized shard when it is at most half full',
    view: viewOf({ owns: [4, 0], unowned: shardsOf(1, 101) }),
    claim: [0],
  },
  {
    name: 'leaves an oversized shard when it is more than half full',
    view: viewOf({
      owns: [4, 1],
      owned: [{ shard: 7, linked: 51, isMovable: true }],
      unowned: shardsOf(1, 101),
    }),
    claim: [],
  },
  {
    name: 'releases down to its share',
    view: viewOf({ owns: [1, 7], deviceCounts: counts(0, 0) }),
    release: [0, 5, 2],
  },
  {
    name: 'releases no more than the others miss, less what is unowned',
    // The counts of workers and the unowned shards are read by two statements, so they may disagree.
    view: viewOf({ owns: [1, 7], unowned: [{ shard: 7, linked: 0 }], deviceCounts: counts(0, 0) }),
    release: [0, 5],
  },
  {
    name: 'keeps a shard that is not movable',
    view: viewOf({
      owns: [3, 5],
      owned: shardsOf(5).map((shard) => ({ ...shard, isMovable: shard.shard !== 0 })),
      deviceCounts: counts(0, 0),
    }),
    release: [2],
  },
  {
    name: 'releases nothing while devices wait for their login at the receiver',
    view: viewOf({ owns: [1, 7], owned: shardsOf(7, 1), deviceCounts: counts(2, 7, 2) }),
    release: [],
  },
  {
    name: 'releases no oversized shard',
    view: viewOf({
      shards: 2,
      owns: [0, 2],
      owned: shardsOf(2, 101),
      deviceCounts: counts(0, 202),
    }),
    release: [],
  },
  {
    name: 'releases nothing before its memory allows',
    view: viewOf({ owns: [1, 7], deviceCounts: counts(0, 0) }),
    memory: { ...emptyMemory, releaseNotBeforeMs: nowMs + 1 },
    release: [],
  },
  {
    name: 'releases everything when it is not among the live workers',
    view: viewOf({ selfId: 'c', owned: shardsOf(2), owns: [3, 3], deviceCounts: counts(0, 0) }),
    release: [0, 1],
  },
])('$name', ({ view, memory, claim = [], release = [] }) => {
  const planned = plan(view, memory)
  expect(planned.claim).toEqual(claim)
  expect(planned.release).toEqual(release)
})

test('needs the device counts only where it may release or claim beyond its share', () => {
  expect(needsDeviceCounts(viewOf({ owns: [2, 2], unowned: shardsOf(4) }), unownedFor(40, 0))).toBe(false)
  expect(needsDeviceCounts(viewOf({ owns: [4, 4] }), emptyMemory)).toBe(false)
  const leftovers = viewOf({ owns: [3, 4], unowned: shardsOf(1) })
  expect(needsDeviceCounts(leftovers, unownedFor(4, 0))).toBe(true)
  expect(needsDeviceCounts(leftovers, emptyMemory)).toBe(false)
  const surplus = viewOf({ owns: [1, 7] })
  expect(needsDeviceCounts(surplus, emptyMemory)).toBe(true)
  expect(needsDeviceCounts(surplus, { ...emptyMemory, releaseNotBeforeMs: nowMs + 1 })).toBe(false)
})

test('waits for a while before the next release: longer after a claim, longest after a forgotten shard', () => {
  const releasing = viewOf({ owns: [1, 7], deviceCounts: counts(0, 0) })
  expect(plan(releasing).memory.releaseNotBeforeMs).toBe(nowMs + tickMs)
  const opening = viewOf({ owns: [1, 7], owned: shardsOf(7, 1), deviceCounts: counts(2, 7, 2) })
  expect(plan(opening).memory.releaseNotBeforeMs).toBe(nowMs + tickMs)
  const idle = viewOf({ owns: [1, 7], owned: shardsOf(7, 101), deviceCounts: counts(0, 707) })
  expect(plan(idle).memory.releaseNotBeforeMs).toBe(nowMs + 10 * tickMs)
  expect(afterClaim(emptyMemory, { nowMs, tickMs }).releaseNotBeforeMs).toBe(nowMs + 6 * tickMs)
  const forgotten = viewOf({ owns: [3, 4], unowned: shardsOf(1), deviceCounts: counts(0, 0) })
  const { memory } = plan(forgotten, unownedFor(31, 0))
  expect(memory.releaseNotBeforeMs).toBe(nowMs + 60 * tickMs)
  expect(afterClaim(memory, { nowMs, tickMs })).toEqual(memory)
})

test('remembers since when each shard has no owner, and forgets those that have one', () => {
  const view = viewOf({ owns: [3, 3], unowned: [1, 2].map((shard) => ({ shard, linked: 0 })) })
  const { memory, unplaced } = plan(view, unownedFor(11, 0, 1))
  expect(memory.unownedSinceMs).toEqual(
    new Map([
      [1, nowMs - 11 * tickMs - 1],
      [2, nowMs],
    ]),
  )
  expect(unplaced).toBe(1)
})

test('polls every fourth tick while every shard has an owner and its share is full', () => {
  const [a, b] = viewOf({ owns: [4, 4] }).workers
  if (!a || !b) throw new Error('two workers')
  const nextPollMs = (view: Partial<View> & { owns?: [number, number] }) => plan(viewOf(view)).nextPollMs
  expect(nextPollMs({ owns: [4, 4] })).toBe(4 * tickMs)
  expect(nextPollMs({ owns: [4, 4], workers: [{ ...a, isSuspect: true }, b] })).toBe(tickMs)
  // A draining worker has the eighth shard.
  expect(nextPollMs({ owns: [3, 4] })).toBe(tickMs)
  expect(nextPollMs({ owns: [3, 5], deviceCounts: counts(0, 0) })).toBe(tickMs)
})

test('polls when another worker may be declared dead, and otherwise as usual', () => {
  const silentFor = (a: number | null, b: number | null) =>
    viewOf({ owns: [4, 4] }).workers.map((worker) => {
      const deathInMs = worker.id === 'a' ? a : b
      return { ...worker, deathInMs, isSuspect: deathInMs === null }
    })
  const nextPollMs = (a: number | null, b: number | null) =>
    plan(viewOf({ owns: [4, 4], workers: silentFor(a, b) })).nextPollMs
  expect(nextPollMs(2500, 2500)).toBe(4 * tickMs)
  expect(nextPollMs(120, 2500)).toBe(121)
  // Its own death, and one that is overdue, are up to other workers.
  expect(nextPollMs(2500, 120)).toBe(4 * tickMs)
  expect(nextPollMs(null, 2500)).toBe(tickMs)
})

test('rests two milliseconds for each live worker', () => {
  expect(plan(viewOf({})).restMs).toBe(4)
})

test('polls again for what other workers claimed first only when it is below its share', () => {
  expect(plan(viewOf({ owns: [2, 2], unowned: shardsOf(4) })).retriesLostClaims).toBe(true)
  const leftovers = viewOf({ owns: [3, 4], unowned: shardsOf(1, 10), deviceCounts: counts(95, 0) })
  expect(plan(leftovers, unownedFor(5, 0)).retriesLostClaims).toBe(false)
})
