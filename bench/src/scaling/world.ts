import { shardOf } from '@wagate/shared/shard'
import { makeRandom } from '@wagate/test-kit/random'
import { emptyMemory, type Memory } from '@wagate/worker/ownership/plan'
import type { Setup } from './setup.ts'

export type Worker = {
  id: string
  /** `gone`: its process has ended or is cut off, which the other workers do not know yet. */
  state: 'live' | 'gone' | 'dead'
  /** For the times of its heartbeats. */
  heartbeatPhaseMs: number
  renewedAtMs: number
  /** How long it must be silent until other workers may mark it dead. */
  diesAfterMs: number
  owned: Set<number>
  memory: Memory
  pollAtMs: number
  pollNotBeforeMs: number
  /** Shards whose devices it is logging in. */
  logins: { shard: number; epoch: number; left: number }[]
  loginCredit: number
}

type Shard = {
  linked: number
  owner: Worker | undefined
  epoch: number
  online: number
  offlineSinceMs: number
}

export type Counters = { polls: number; logins: number; longestAwayMs: number; lastLoginAtMs: number }

/** Everything that changes during a simulation. */
export type World = {
  readonly setup: Setup
  readonly random: () => number
  readonly shards: Shard[]
  readonly unowned: Set<number>
  readonly workers: Worker[]
  nowMs: number
  loginBudget: number
  counters: Counters
}

export const noCounts: Counters = { polls: 0, logins: 0, longestAwayMs: 0, lastLoginAtMs: 0 }

export function makeWorld(setup: Setup): World {
  const shards = makeShards(setup)
  return {
    setup,
    random: makeRandom(1),
    shards,
    unowned: new Set(shards.keys()),
    workers: [],
    nowMs: 0,
    loginBudget: 0,
    counters: noCounts,
  }
}

export function addWorker({ workers, setup, random, nowMs }: World): void {
  workers.push({
    id: String(workers.length),
    state: 'live',
    heartbeatPhaseMs: random() * setup.heartbeatMs,
    renewedAtMs: nowMs,
    diesAfterMs: Number.POSITIVE_INFINITY,
    owned: new Set(),
    memory: emptyMemory,
    pollAtMs: nowMs,
    pollNotBeforeMs: nowMs,
    logins: [],
    loginCredit: 0,
  })
}

/** The last heartbeat of a worker. */
export function renewedAtMs({ nowMs, setup }: World, worker: Worker): number {
  if (worker.state !== 'live') return worker.renewedAtMs
  return nowMs - ((nowMs + worker.heartbeatPhaseMs) % setup.heartbeatMs)
}

export function ownShard(world: World, worker: Worker, number: number): void {
  const shard = world.shards[number]
  if (!shard) return
  shard.owner = worker
  shard.epoch += 1
  worker.owned.add(number)
  world.unowned.delete(number)
  worker.logins.push({ shard: number, epoch: shard.epoch, left: shard.linked })
}

export function disownShard(world: World, worker: Worker, number: number): void {
  const shard = world.shards[number]
  if (!shard) return
  shard.owner = undefined
  worker.owned.delete(number)
  world.unowned.add(number)
}

export function disconnectShard({ shards, nowMs }: World, number: number): void {
  const shard = shards[number]
  if (!shard) return
  if (shard.online === shard.linked) shard.offlineSinceMs = nowMs
  shard.online = 0
}

export function markDead(world: World, worker: Worker): void {
  worker.state = 'dead'
  for (const number of [...worker.owned]) disownShard(world, worker, number)
}

/** Live workers poll as soon as their rest allows. */
export function wakeAll({ workers, nowMs }: World): void {
  for (const worker of workers)
    if (worker.state === 'live')
      worker.pollAtMs = Math.min(worker.pollAtMs, Math.max(nowMs, worker.pollNotBeforeMs))
}

export function linkedDevices({ shards }: World, numbers: Iterable<number>): number {
  let linked = 0
  for (const number of numbers) linked += shards[number]?.linked ?? 0
  return linked
}

function makeShards({ shards, senders }: Setup): Shard[] {
  const made = Array.from(
    { length: shards },
    (): Shard => ({ linked: 0, owner: undefined, epoch: 0, online: 0, offlineSinceMs: 0 }),
  )
  for (let deviceId = 1; deviceId <= senders; deviceId++) {
    const shard = made[shardOf(deviceId, shards)]
    if (shard) shard.linked += 1
  }
  return made
}
