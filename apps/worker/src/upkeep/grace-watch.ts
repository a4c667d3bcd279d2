import { announceDisconnections } from '@wagate/db/queries/devices/device-connection'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import type { DeviceContext } from '../device/device-context.ts'
import type { Lease } from '../ownership/lease.ts'

/**
 * Records an event for each device that has not come back within the grace period of its status. `listLeases`: of shards
 * that have a device without a connection.
 */
export function startGraceWatch(
  { db, config, logger }: Pick<DeviceContext, 'db' | 'config' | 'logger'>,
  listLeases: () => Lease[],
): Running {
  const run = makeSingleFlight(announceAll, (err) =>
    logger.warn({ err }, 'Recording disconnections failed, will retry'),
  )
  const timer = setInterval(run, config.outbox.pollMs)

  async function announceAll(): Promise<void> {
    const leases = listLeases()
    if (leases.length === 0) return
    const announced = await announceDisconnections(db, leases, config.statusGraceMs)
    if (announced > 0)
      logger.info({ devices: announced }, 'Devices did not reconnect within the grace period')
  }

  return {
    async close() {
      clearInterval(timer)
    },
  }
}
