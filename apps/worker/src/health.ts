import { answerMetrics, type InternalAnswer, startInternalServer } from '@wagate/shared/internal-server'
import type { Running } from '@wagate/shared/running'
import type { Config } from './config.ts'
import type { Metrics } from './metrics.ts'
import type { OwnershipState } from './ownership/ownership.ts'

/** `/health/live`: the process runs. `/health/ready`: it may send for the shards it owns. `/metrics`: for Prometheus. */
export function startHealth(
  { HOST, METRICS_PORT }: Pick<Config, 'HOST' | 'METRICS_PORT'>,
  metrics: Metrics,
  read: () => OwnershipState,
): Promise<Running & { port: number }> {
  return startInternalServer(
    { host: HOST, port: METRICS_PORT },
    {
      '/health/live': () => ({ status: 200, body: { ok: true } }),
      '/health/ready': () => readiness(read()),
      '/metrics': () => answerMetrics(metrics.registry),
    },
  )
}

function readiness(state: OwnershipState): InternalAnswer {
  return {
    status: state.leaseValid ? 200 : 503,
    body: {
      ok: state.leaseValid,
      worker_id: state.workerId,
      lease_valid: state.leaseValid,
      owned_shards: state.ownedShards,
      linked_devices: state.linkedDevices,
      no_capacity_shards: state.unplacedShards,
    },
  }
}
