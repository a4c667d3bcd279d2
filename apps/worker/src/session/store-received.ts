import { databaseFailure } from '@wagate/db/failures'
import { OwnershipLost } from '@wagate/db/queries/fence'
import { makeMessageId } from '@wagate/shared/ids'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Persist } from './persistence.ts'
import type { Received } from './received.ts'

type ReceivingDevice = { id: number; accountId: number; sender: string; linkGeneration: number; lease: Lease }

/**
 * Stores what a contact wrote. What the database refuses for good is stored without its text, so that it never comes
 * back to delay others. Throws OwnershipLost, and whatever `persist` gives up with.
 */
export async function storeReceived(
  { receivedWrites, metrics, logger }: Pick<DeviceContext, 'receivedWrites' | 'metrics' | 'logger'>,
  { lease, ...device }: ReceivingDevice,
  received: Received,
  persist: Persist,
): Promise<void> {
  const row = {
    ...received,
    fence: lease,
    id: makeMessageId(device.sender),
    accountId: device.accountId,
    deviceId: device.id,
    sender: device.sender,
    linkGeneration: device.linkGeneration,
  }

  async function store(form: Pick<Received, 'type' | 'body'>): Promise<void> {
    const lost = await persist(() => receivedWrites.add({ ...row, ...form }))
    if (lost) throw lost
    metrics.received.inc()
  }

  if (received.isCleaned) reportCleaned()
  try {
    await store(received)
  } catch (error) {
    if (error instanceof OwnershipLost || databaseFailure(error)) throw error
    reportCleaned(error)
    await store({ type: 'other', body: null }).catch(reportDropped)
  }

  function reportCleaned(error?: unknown): void {
    metrics.receivedCleaned.inc()
    logger.warn(
      { err: error, deviceId: device.id },
      'A received message was stored without the parts that cannot be stored',
    )
  }

  function reportDropped(error: unknown): void {
    if (error instanceof OwnershipLost || databaseFailure(error)) throw error
    metrics.receivedDropped.inc()
    logger.error({ err: error, deviceId: device.id }, 'A received message was dropped, it cannot be stored')
  }
}
