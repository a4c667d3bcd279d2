import { databaseFailure } from '@wagate/db/failures'
import { OwnershipLost } from '@wagate/db/queries/fence'
import type { ReceivedMessage } from '@wagate/db/queries/received-messages'
import { makeMessageId } from '@wagate/shared/ids'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import { newReceivedMedia } from './new-received-media.ts'
import type { Persist } from './persistence.ts'
import type { Received } from './received.ts'
import type { Vault } from './vault.ts'

type ReceivingDevice = {
  id: number
  accountId: number
  sender: string
  linkGeneration: number
  lease: Lease
  vault: Vault
}

type Context = Pick<DeviceContext, 'receivedWrites' | 'metrics' | 'logger' | 'config' | 'mediaArrivals'>

/**
 * Stores a message from a contact. If Postgres refuses it permanently, it is stored without its text, so that WhatsApp
 * does not deliver it again and delay others. Throws OwnershipLost and the errors with which `persist` gives up.
 */
export async function storeReceived(
  { receivedWrites, metrics, logger, config, mediaArrivals }: Context,
  { lease, vault, ...device }: ReceivingDevice,
  { media: described, ...received }: Received,
  persist: Persist,
): Promise<void> {
  const id = makeMessageId(device.sender)
  const limits = { isEnabled: config.receivedMedia.isEnabled, bytesMax: config.media.bytesMax }
  const media = described && newReceivedMedia(described, id, vault, limits)
  const row = {
    ...received,
    fence: lease,
    id,
    accountId: device.accountId,
    deviceId: device.id,
    sender: device.sender,
    linkGeneration: device.linkGeneration,
  }

  async function store(form: Pick<ReceivedMessage, 'type' | 'body' | 'media'>): Promise<void> {
    const lost = await persist(() => receivedWrites.add({ ...row, ...form }))
    if (lost) throw lost
    metrics.received.inc()
  }

  if (received.isCleaned) reportCleaned()
  try {
    await store({ ...received, media })
    if (media) mediaArrivals.note()
  } catch (error) {
    if (error instanceof OwnershipLost || databaseFailure(error)) throw error
    reportCleaned(error)
    await store({ type: 'other', body: null }).catch(reportDropped)
  }

  function reportCleaned(error?: unknown): void {
    metrics.receivedCleaned.inc()
    logger.warn(
      { err: error, deviceId: device.id },
      'Stored a received message without the parts that cannot be stored',
    )
  }

  function reportDropped(error: unknown): void {
    if (error instanceof OwnershipLost || databaseFailure(error)) throw error
    metrics.receivedDropped.inc()
    logger.error({ err: error, deviceId: device.id }, 'Dropped a received message that cannot be stored')
  }
}
