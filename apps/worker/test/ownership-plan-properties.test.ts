import { makeRandom } from '@wagate/test-kit/random'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShare } from '../src/ownership/shares.ts'
import { makePlanCluster } from './plan-cluster.ts'

const linkedLists = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 40 })
const workerCounts = fc.integer({ min: 1, max: 6 })
const roomy = 1000
const runs = { numRuns: 20 }
/** Long enough for forgotten shards, and for one release after each rest. */
const ticksMax = 120

type Cluster = ReturnType<typeof makePlanCluster>

const clusters = fc
  .record({ linked: linkedLists, workers: workerCounts, seed: fc.integer() })
  .map(({ linked, workers, seed }) =>
    makePlanCluster({ linked, capacities: Array(workers).fill(roomy), random: makeRandom(seed) }),
  )

const tightClusters = fc
  .record({
    linked: linkedLists,
    capacities: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
    seed: fc.integer(),
  })
  .map(({ linked, capacities, seed }) => makePlanCluster({ linked, capacities, random: makeRandom(seed) }))

const modes = fc.constantFrom({ together: false }, { together: true })

test('gives every shard an owner, and every worker its share', () => {
  fc.assert(
    fc.property(clusters, modes, (cluster, mode) => {
      run(cluster, mode)
      expectShares(cluster)
    }),
    runs,
  )
})

test('a worker that joins takes its share, each shard moves once, and then nothing moves', () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      run(cluster)
      const before = cluster.moves.length
      cluster.join(roomy)
      run(cluster)
      expectShares(cluster)
      const moves = cluster.moves.slice(before)
      const share = fairShare(cluster.owners.length, cluster.workers.length - 1, cluster.workers.length)
      expect(moves.filter(({ kind }) => kind === 'release')).toHaveLength(share)
      expect(moves.filter(({ kind }) => kind === 'claim')).toHaveLength(share)
      expect(new Set(moves.map(({ shard }) => shard)).size).toBe(share)
      expectRest(cluster)
    }),
    runs,
  )
})

test('a worker that dies moves only its own shards', () => {
  fc.assert(
    fc.property(clusters, fc.nat(), (cluster, seed) => {
      cluster.join(roomy)
      run(cluster)
      const before = cluster.moves.length
      const dying = cluster.workers[seed % cluster.workers.length]
      const orphans = cluster.shardsOf(dying).map(({ shard }) => shard)
      cluster.leave(seed % cluster.workers.length)
      run(cluster)
      expectShares(cluster)
      const moved = cluster.moves.slice(before)
      expect(moved.map(({ kind }) => kind)).toEqual(orphans.map(() => 'claim'))
      expect(moved.map(({ shard }) => shard).toSorted()).toEqual(orphans.toSorted())
    }),
    runs,
  )
})

test('never plans a release below the share, a claim of an owned shard, or both in one tick', () => {
  fc.assert(
    fc.property(
      fc.oneof(clusters, tightClusters),
      fc.array(fc.nat(3), { maxLength: 8 }),
      (cluster, events) => {
        for (const event of events) {
          if (event === 0) cluster.join(20)
          if (event === 1 && cluster.workers.length > 1) cluster.leave(0)
          for (let tick = 0; tick < 8; tick++) {
            expectLegalPlans(cluster)
            cluster.tick()
          }
        }
      },
    ),
  )
})

test('comes to rest with all capacities', () => {
  fc.assert(
    fc.property(tightClusters, modes, (cluster, mode) => {
      run(cluster, mode)
      expectRest(cluster)
    }),
    runs,
  )
})

test('leaves a shard unowned only when no worker has room for it', () => {
  fc.assert(
    fc.property(tightClusters, (cluster) => {
      run(cluster)
      const largest = Math.max(...cluster.workers.map(({ capacity }) => capacity))
      for (const { linked } of cluster.shardsOf(undefined)) {
        for (const worker of cluster.workers) {
          const load = sum(cluster.shardsOf(worker).map((shard) => shard.linked))
          const hasRoom = linked > largest ? load <= worker.capacity / 2 : load + linked <= worker.capacity
          expect(hasRoom).toBe(false)
        }
      }
    }),
    runs,
  )
})

test('claims the share of a worker that does not poll', () => {
  const cluster = makePlanCluster({ linked: Array(16).fill(1), capacities: [roomy], random: () => 0.5 })
  cluster.join(roomy, true)
  for (let tick = 0; tick < 60; tick++) cluster.tick()
  expect(cluster.shardsOf(undefined)).toEqual([])
})

test('gives an oversized shard to a worker that is at most half full, where it stays', () => {
  const cluster = makePlanCluster({ linked: [101, 1, 1, 1], capacities: [100, 100], random: () => 0.5 })
  run(cluster)
  cluster.join(100)
  run(cluster)
  expect(cluster.shardsOf(undefined)).toEqual([])
  expect(cluster.moves.filter(({ shard }) => shard === 0)).toHaveLength(1)
  expectRest(cluster)
})

function run(cluster: Cluster, mode = { together: false }): void {
  for (let tick = 0; tick < ticksMax; tick++) cluster.tick(mode)
}

function expectShares({ workers, owners, shardsOf }: Cluster): void {
  const expected = workers.map((_, rank) => fairShare(owners.length, rank, workers.length))
  expect(workers.map((worker) => shardsOf(worker).length)).toEqual(expected)
}

function expectRest(cluster: Cluster): void {
  const before = cluster.moves.length
  run(cluster)
  expect(cluster.moves.slice(before)).toEqual([])
}

function expectLegalPlans(cluster: Cluster): void {
  const { workers, owners } = cluster
  for (const [rank, worker] of workers.entries()) {
    const { claim, release } = cluster.planFor(worker).plan
    expect(new Set([...claim, ...release]).size).toBe(claim.length + release.length)
    expect(claim.length === 0 || release.length === 0).toBe(true)
    for (const shard of claim) expect(owners[shard]).toBeUndefined()
    for (const shard of release) expect(owners[shard]).toBe(worker)
    if (release.length > 0) {
      const left = cluster.shardsOf(worker).length - release.length
      expect(left).toBeGreaterThanOrEqual(fairShare(owners.length, rank, workers.length))
    }
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
