/*
 * The three things that "live worker" can mean, as SQL for a row of `workers` that has the given name in its
 * statement. A draining worker keeps its shards, renews its lease and writes, but gets no further shards.
 */

/** It was not declared dead: it may write, and it may renew a lease that has lapsed. */
export function isNotDead(worker: string): string {
  return `${worker}.state <> 'dead'`
}

/** It has renewed its lease in time, whether it drains or not: its shards have an owner. */
export function isRunning(worker: string): string {
  return `${isNotDead(worker)} AND ${isWithinLease(worker)}`
}

/** It shares in the shards: it is neither dead nor draining. Its lease may have lapsed. */
export function isSharing(worker: string): string {
  return `${worker}.state = 'live'`
}

export function isWithinLease(worker: string): string {
  return `${worker}.lease_until > now()`
}
