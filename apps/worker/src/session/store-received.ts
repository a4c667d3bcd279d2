import { setTimeout as delay } from 'node:timers/promises'
import { databaseFailure } from '@wagate/db/failures'
import { OwnershipLost } from '@wagate/db/queries/fence'
import { makeMessageId } from '@wagate/shared/ids'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Received } from './received.ts'

type ReceivingDevice = { id: number; accountId: number; sender: string; linkGeneration: number; lease: Lease }

const retryMs = 500

/**
 * Stores what a contact wrote. While the database is away it tries again until `isOver`; false when it gave up.
 * What the database refuses for good is stored without its text, so that it never comes back to delay others.
 * Throws OwnershipLost.
 */
export async function storeReceived(
  { receivedWrites, metrics, logger }: Pick<DeviceContext, 'receivedWrites' | 'metrics' | 'logger'>,
  device: ReceivingDevice,
  received: Received,
  isOver: () => boolean,
): Promise<boolean> {
  const { isCleaned, ...fields } = received
  const row = {
    ...fields,
    fence: device.lease,
    id: makeMessageId(device.sender),
    accountId: device.accountId,
    deviceId: device.id,
    sender: device.sender,
    linkGeneration: device.linkGeneration,
  }
  if (isCleaned) {
    metrics.receivedCleaned.inc()
    logger.warn(
      { deviceId: device.id },
      'A received message was stored without the parts that cannot be stored',
    )
  }
  while (!isOver()) {
    try {
      const lost = await receivedWrites.add(row)
      if (lost) throw lost
      metrics.received.inc()
      return true
    } catch (error) {
      if (error instanceof OwnershipLost) throw error
      logger.warn({ err: error, deviceId: device.id }, 'A received message could not be stored, trying again')
      if (databaseFailure(error)) await delay(retryMs)
      else if (row.body !== null || row.type !== 'other') Object.assign(row, { type: 'other', body: null })
      else {
        metrics.receivedDropped.inc()
        logger.error(
          { err: error, deviceId: device.id },
          'A received message was dropped, it cannot be stored',
        )
        return true
      }
    }
  }
  return false
}
