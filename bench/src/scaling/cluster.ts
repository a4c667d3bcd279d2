import { silentHeartbeats } from '@wagate/worker/ownership/membership'
import { logIn } from './logins.ts'
import { poll } from './poll.ts'
import type { Departure, Setup } from './setup.ts'
import {
  addWorker,
  type Counters,
  disconnectShard,
  linkedDevices,
  makeWorld,
  markDead,
  noCounts,
  renewedAtMs,
  type Worker,
  type World,
  wakeAll,
} from './world.ts'

export type Cluster = {
  join(): void
  leave(workers: number[], departure: Departure): void
  run(ms: number): void
  /** False when it takes longer than the limit. */
  runUntilOnline(limitMs: number): boolean
  resetCounters(): void
  figures(): Counters & { nowMs: number }
  sendersOfWorkers(): number[]
}

const stepMs = 10

/** Workers that share the shards, in steps of 10 ms. The product plans what they do; logins and deaths are simulated. */
export function makeCluster(setup: Setup): Cluster {
  const world = makeWorld(setup)
  world.counters = { ...noCounts }

  const runUntil = (untilMs: number, isDone = () => false) => {
    while (world.nowMs < untilMs && !isDone()) step(world)
  }

  return {
    join: () => addWorker(world),
    leave(numbers, departure) {
      for (const number of numbers) {
        const worker = world.workers[number]
        if (worker) depart(world, worker, departure)
      }
    },
    run: (ms) => runUntil(world.nowMs + ms),
    runUntilOnline(limitMs) {
      const untilMs = world.nowMs + limitMs
      runUntil(untilMs, () => world.shards.every(({ linked, online, owner }) => owner && online === linked))
      return world.nowMs < untilMs
    },
    resetCounters() {
      world.counters = { ...noCounts, lastLoginAtMs: world.counters.lastLoginAtMs }
    },
    figures: () => ({ ...world.counters, nowMs: world.nowMs }),
    sendersOfWorkers: () =>
      world.workers.filter(({ state }) => state === 'live').map(({ owned }) => linkedDevices(world, owned)),
  }
}

function depart(world: World, worker: Worker, departure: Departure): void {
  for (const shard of worker.owned) disconnectShard(world, shard)
  if (departure === 'stopped') {
    markDead(world, worker)
    wakeAll(world)
    return
  }
  const { heartbeatMs, leaseTtlMs } = world.setup
  worker.renewedAtMs = renewedAtMs(world, worker)
  worker.state = 'gone'
  worker.diesAfterMs = departure === 'killed' ? silentHeartbeats * heartbeatMs : leaseTtlMs
}

function step(world: World): void {
  const { workers, setup } = world
  world.loginBudget = Math.min(world.loginBudget, 1) + (setup.loginsPerSecondOfAll * stepMs) / 1000
  // The first worker of a step has first access to the budget, so each step begins with another one.
  const first = Math.floor(world.nowMs / stepMs) % Math.max(1, workers.length)
  for (const worker of [...workers.slice(first), ...workers.slice(0, first)]) {
    if (worker.state === 'live' && world.nowMs >= worker.pollAtMs) poll(world, worker)
    if (worker.state === 'live' && worker.logins.length > 0) logIn(world, worker, stepMs)
  }
  world.nowMs += stepMs
}
