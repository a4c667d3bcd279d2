import { answerMetrics, type InternalAnswer, startInternalServer } from '@wagate/runtime/internal-server'
import type { Running } from '@wagate/runtime/running'
import type { Config } from './config/config.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { OwnershipState } from './ownership/ownership.ts'
import { partitionWeeksAheadMin } from './upkeep/housekeeping.ts'

type Readings = {
  readOwnership(): OwnershipState
  /** Resolves to `ok`, or to a description of what is wrong with Redis. */
  checkRedis(): Promise<string>
  /** Undefined when unknown. */
  countPartitionWeeksAhead(): number | undefined
}

/** `/health/live`: the process runs. `/health/ready`: it may send for the shards it owns. `/metrics`: for Prometheus. */
export function startHealth(
  address: Config['metrics'],
  metrics: Metrics,
  { readOwnership, checkRedis, countPartitionWeeksAhead }: Readings,
): Promise<Running & { port: number }> {
  return startInternalServer(address, {
    '/health/live': () => ({ status: 200, body: { ok: true } }),
    '/health/ready': async () =>
      describeReadiness(readOwnership(), await checkRedis(), countPartitionWeeksAhead()),
    '/metrics': () => answerMetrics(metrics.registry),
  })
}

function describeReadiness(
  state: OwnershipState,
  redis: string,
  weeksAhead: number | undefined,
): InternalAnswer {
  const degraded = describeDegraded(state, redis, weeksAhead)
  const status = degraded.length === 0 ? 'ready' : 'degraded'
  return {
    status: state.leaseValid ? 200 : 503,
    body: {
      ok: state.leaseValid,
      status: state.leaseValid ? status : 'unavailable',
      degraded,
      worker_id: state.workerId,
      lease_valid: state.leaseValid,
      redis,
      owned_shards: state.ownedShards,
      linked_devices: state.linkedDevices,
      no_capacity_shards: state.unplacedShards,
      message_partitions_ahead_weeks: weeksAhead ?? null,
    },
  }
}

function describeDegraded(
  { unplacedShards }: OwnershipState,
  redis: string,
  weeksAhead = partitionWeeksAheadMin,
): string[] {
  return [
    ...(redis === 'ok' ? [] : [`Redis ${redis}. Messages wait for the next poll.`]),
    ...(unplacedShards === 0
      ? []
      : [`${unplacedShards} shards have no owner because no worker has room. Start another worker.`]),
    ...(weeksAhead >= partitionWeeksAheadMin
      ? []
      : [
          `Messages can be stored for ${weeksAhead} more weeks only. Look for "making partitions" in the logs.`,
        ]),
  ]
}
