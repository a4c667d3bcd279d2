import { openingMs } from '@wagate/db/queries/shard-leases'
import { shardOf } from '@wagate/shared/shard'
import { idleTicks, restMsPerWorker, settleTicks } from '@wagate/worker/ownership/placement'
import { areOpening, chooseClaims, fairShare, planReleases } from '@wagate/worker/ownership/shares'
import { makeRandom } from '../random.ts'

/** What the simulation takes for granted. */
export type Setup = {
  workers: number
  shards: number
  senders: number
  /** In linked devices, of each worker. */
  capacity: number
  tickMs: number
  heartbeatMs: number
  leaseTtlMs: number
  /** Of one worker that has many to log in. */
  loginsPerSecond: number
  /** Of all together: what Postgres has the CPU for. */
  loginsPerSecondOfAll: number
}

type Worker = {
  number: number
  startedAtMs: number
  state: 'live' | 'gone' | 'dead'
  /** When the others may mark it dead. */
  deadAtMs: number
  held: Set<number>
  lookAtMs: number
  notBeforeMs: number
  releaseAtMs: number
  /** Shards whose devices it is logging in, with how many are left. */
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

const stepMs = 10
/** A worker whose process has ended is known to be dead when it has not renewed its lease for so many heartbeats. */
const silentHeartbeats = 1.5

export type Way = 'stopped' | 'killed' | 'cut off'

/**
 * Workers that share the shards by the product's own rules, in steps of 10 ms. Looks at the leases are instant and come
 * one after the other, so nobody is ever slower than another in claiming the same shard.
 */
export function makeCluster(setup: Setup) {
  const random = makeRandom(1)
  const shards = makeShards(setup)
  const workers: Worker[] = []
  let nowMs = 0
  let looks = 0
  let logins = 0
  let longestAwayMs = 0
  let loginBudget = 0
  let lastLoginAtMs = 0

  const live = () => workers.filter(({ state }) => state === 'live')
  const linkedOf = (numbers: Iterable<number>) =>
    [...numbers].reduce((total, shard) => total + (shards[shard]?.linked ?? 0), 0)

  /** Who went offline a moment ago. */
  const openingOf = (numbers: Iterable<number>) =>
    [...numbers].reduce((total, number) => {
      const { linked, online, offlineSinceMs } = shards[number] ?? { linked: 0, online: 0, offlineSinceMs: 0 }
      return total + (nowMs - offlineSinceMs < openingMs ? linked - online : 0)
    }, 0)

  function join(): void {
    workers.push({
      number: workers.length,
      startedAtMs: nowMs,
      state: 'live',
      deadAtMs: Number.POSITIVE_INFINITY,
      held: new Set(),
      lookAtMs: nowMs,
      notBeforeMs: nowMs,
      releaseAtMs: 0,
      logins: [],
      loginCredit: 0,
    })
  }

  function leave(numbers: number[], way: Way): void {
    for (const worker of numbers.flatMap((number) => workers[number] ?? [])) {
      for (const shard of worker.held) disconnect(shard)
      if (way === 'stopped') {
        wakeAfter(() => bury(worker))
        continue
      }
      worker.state = 'gone'
      const patienceMs = way === 'killed' ? silentHeartbeats * setup.heartbeatMs : setup.leaseTtlMs
      worker.deadAtMs = nowMs + patienceMs - random() * setup.heartbeatMs
    }
  }

  function bury(worker: Worker): void {
    worker.state = 'dead'
    for (const number of worker.held) {
      const shard = shards[number]
      if (shard) shard.owner = undefined
    }
    worker.held.clear()
  }

  function disconnect(number: number): void {
    const shard = shards[number]
    if (!shard) return
    if (shard.online === shard.linked) shard.offlineSinceMs = nowMs
    shard.online = 0
  }

  function wakeAfter(change: () => void): void {
    change()
    for (const worker of live())
      worker.lookAtMs = Math.min(worker.lookAtMs, Math.max(nowMs, worker.notBeforeMs))
  }

  function look(worker: Worker): void {
    looks += 1
    for (const other of workers) if (other.state === 'gone' && nowMs >= other.deadAtMs) bury(other)
    const all = live()
    const share = fairShare(setup.shards, all.indexOf(worker), all.length)
    const missing = share - worker.held.size
    if (missing > 0) claim(worker, missing)
    else if (missing < 0 && nowMs >= worker.releaseAtMs) release(worker, all, -missing)
    worker.notBeforeMs = nowMs + all.length * restMsPerWorker
    worker.lookAtMs = Math.max(worker.notBeforeMs, nowMs + setup.tickMs)
  }

  function loadOf(held: Set<number>) {
    const { capacity } = setup
    return { linked: linkedOf(held), capacity, largestCapacity: capacity }
  }

  function claim(worker: Worker, missing: number): void {
    const unowned = shuffled(
      [...shards.entries()]
        .filter(([, { owner }]) => !owner)
        .map(([shard, { linked }]) => ({ shard, linked })),
      random,
    )
    const chosen = chooseClaims(unowned, missing, loadOf(worker.held))
    for (const number of chosen) {
      const shard = shards[number]
      if (!shard) continue
      shard.owner = worker
      shard.epoch += 1
      worker.held.add(number)
      worker.logins.push({ shard: number, epoch: shard.epoch, left: shard.linked })
    }
    if (chosen.length > 0)
      worker.releaseAtMs = Math.max(worker.releaseAtMs, nowMs + settleTicks * setup.tickMs)
  }

  function release(worker: Worker, all: Worker[], excess: number): void {
    const receivers = all.map(({ held }, rank) => ({
      missing: Math.max(0, fairShare(setup.shards, rank, all.length) - held.size),
      load: loadOf(held),
      opening: openingOf(held),
    }))
    worker.releaseAtMs = nowMs + setup.tickMs
    const movable = [...worker.held]
      .map((shard) => ({ shard, linked: shards[shard]?.linked ?? 0 }))
      .sort((a, b) => a.linked - b.linked)
    const unowned = shards.filter(({ owner }) => !owner)
    const surplusDevices = linkedOf(worker.held) - Math.ceil(setup.senders / all.length)
    const chosen = planReleases({ movable, excess, surplusDevices, unowned }, receivers)
    if (chosen.length === 0) {
      worker.releaseAtMs = nowMs + setup.tickMs * (areOpening(receivers, unowned) ? 1 : idleTicks)
      return
    }
    wakeAfter(() => {
      for (const number of chosen) {
        disconnect(number)
        worker.held.delete(number)
        const shard = shards[number]
        if (shard) shard.owner = undefined
      }
    })
  }

  function logIn(worker: Worker): void {
    worker.loginCredit = Math.min(worker.loginCredit, 1) + (setup.loginsPerSecond * stepMs) / 1000
    for (;;) {
      const [next] = worker.logins
      if (!next) {
        worker.loginCredit = 0
        return
      }
      const shard = shards[next.shard]
      if (!shard || shard.owner !== worker || shard.epoch !== next.epoch || next.left === 0) {
        worker.logins.shift()
        continue
      }
      if (worker.loginCredit < 1 || loginBudget < 1) return
      loginBudget -= 1
      worker.loginCredit -= 1
      next.left -= 1
      shard.online += 1
      logins += 1
      lastLoginAtMs = nowMs
      if (shard.online === shard.linked) longestAwayMs = Math.max(longestAwayMs, nowMs - shard.offlineSinceMs)
    }
  }

  function step(): void {
    loginBudget = Math.min(loginBudget, 1) + (setup.loginsPerSecondOfAll * stepMs) / 1000
    // Whoever comes first in a step has the first go at the budget: by turns.
    const first = Math.floor(nowMs / stepMs) % Math.max(1, workers.length)
    for (const worker of [...workers.slice(first), ...workers.slice(0, first)]) {
      if (worker.state === 'live' && nowMs >= worker.lookAtMs) look(worker)
      if (worker.state === 'live' && worker.logins.length > 0) logIn(worker)
    }
    nowMs += stepMs
  }

  return {
    join,
    leave,
    run(ms: number): void {
      for (const untilMs = nowMs + ms; nowMs < untilMs; ) step()
    },
    /** False when it takes longer. */
    runUntilOnline(limitMs: number): boolean {
      const untilMs = nowMs + limitMs
      while (nowMs < untilMs && !shards.every(({ linked, online, owner }) => owner && online === linked))
        step()
      return nowMs < untilMs
    },
    /** From here on figures count anew. */
    startCounting(): void {
      looks = 0
      logins = 0
      longestAwayMs = 0
    },
    figures: () => ({ nowMs, looks, logins, longestAwayMs, lastLoginAtMs }),
    sendersOfWorkers: () => live().map(({ held }) => linkedOf(held)),
  }
}

function makeShards({ shards, senders }: Setup): Shard[] {
  const made = Array.from(
    { length: shards },
    (): Shard => ({
      linked: 0,
      owner: undefined,
      epoch: 0,
      online: 0,
      offlineSinceMs: 0,
    }),
  )
  for (let deviceId = 1; deviceId <= senders; deviceId++) {
    const shard = made[shardOf(deviceId, shards)]
    if (shard) shard.linked += 1
  }
  return made
}

function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
