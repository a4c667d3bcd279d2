import type { Worker, World } from './world.ts'

/** Logs in as many devices of a worker as its CPU and Postgres allow in `stepMs`. */
export function logIn(world: World, worker: Worker, stepMs: number): void {
  worker.loginCredit = Math.min(worker.loginCredit, 1) + (world.setup.loginsPerSecond * stepMs) / 1000
  for (;;) {
    const [next] = worker.logins
    if (!next) {
      worker.loginCredit = 0
      return
    }
    const shard = world.shards[next.shard]
    if (!shard || shard.owner !== worker || shard.epoch !== next.epoch || next.left === 0) {
      worker.logins.shift()
      continue
    }
    if (worker.loginCredit < 1 || world.loginBudget < 1) return
    world.loginBudget -= 1
    worker.loginCredit -= 1
    next.left -= 1
    shard.online += 1
    const { counters, nowMs } = world
    counters.logins += 1
    counters.lastLoginAtMs = nowMs
    if (shard.online === shard.linked)
      counters.longestAwayMs = Math.max(counters.longestAwayMs, nowMs - shard.offlineSinceMs)
  }
}
