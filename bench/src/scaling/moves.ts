import { significant } from '@wagate/test-kit/statistics'
import type { Row } from '../table.ts'
import { type Cluster, makeCluster } from './cluster.ts'
import type { Departure, Setup } from './setup.ts'

const limitMs = 1_800_000
/** Long enough for a lease to expire, and for every worker to poll. */
const quietMs = 12_000

/** The effect on senders when workers join and leave. */
export function simulateMoves(setup: Setup, signal: AbortSignal): Row[] {
  signal.throwIfAborted()
  const rack = Array.from({ length: Math.ceil(setup.workers / 10) }, (_, index) => index * 10)
  return [
    scenario(setup, 'one joins', (cluster) => cluster.join()),
    scenario(setup, `${rack.length} join`, (cluster) => {
      for (const _ of rack) cluster.join()
    }),
    scenario(setup, 'one is stopped', leaves([7], 'stopped')),
    scenario(setup, 'one is killed', leaves([7], 'killed')),
    scenario(setup, 'one is cut off', leaves([7], 'cut off')),
    scenario(setup, `${rack.length} are killed together`, leaves(rack, 'killed')),
    scenario(setup, `${rack.length} are cut off together`, leaves(rack, 'cut off')),
    startAll(setup, 'all start within 1 s', 1000),
    startAll(setup, 'all start within 60 s', 60_000),
  ]
}

function leaves(numbers: number[], departure: Departure): (cluster: Cluster) => void {
  return (cluster) => cluster.leave(numbers, departure)
}

function scenario(setup: Setup, what: string, change: (cluster: Cluster) => void): Row {
  const cluster = makeCluster(setup)
  for (let n = 0; n < setup.workers; n++) cluster.join()
  runUntilQuiet(cluster)
  cluster.resetCounters()
  const startedAtMs = cluster.figures().nowMs
  change(cluster)
  cluster.run(quietMs)
  return rowOf(cluster, what, startedAtMs)
}

function startAll(setup: Setup, what: string, withinMs: number): Row {
  const cluster = makeCluster(setup)
  for (let n = 0; n < setup.workers; n++) {
    cluster.join()
    cluster.run(withinMs / setup.workers)
  }
  return rowOf(cluster, what, 0)
}

/** Runs until nothing moves any more. */
function runUntilQuiet(cluster: Cluster): void {
  for (let logins = -1; logins !== cluster.figures().logins; ) {
    logins = cluster.figures().logins
    cluster.runUntilOnline(limitMs)
    cluster.run(quietMs)
  }
}

function rowOf(cluster: Cluster, what: string, startedAtMs: number): Row {
  runUntilQuiet(cluster)
  const { polls, logins, longestAwayMs, lastLoginAtMs, nowMs } = cluster.figures()
  const carried = cluster.sendersOfWorkers()
  return {
    event: what,
    logins,
    'all online after s': significant((lastLoginAtMs - startedAtMs) / 1000),
    'longest away s': significant(longestAwayMs / 1000),
    'polls/s': Math.round(polls / ((nowMs - startedAtMs) / 1000)),
    'senders per worker': `${Math.min(...carried)}–${Math.max(...carried)}`,
  }
}
