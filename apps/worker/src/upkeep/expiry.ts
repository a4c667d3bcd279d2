import { expireMessages, listDevicesWithExpired } from '@wagate/db/queries/messages/unsendable-messages'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { messageErrors } from '@wagate/shared/message-errors'
import type { DeviceContext } from '../device/device-context.ts'
import type { Lease } from '../ownership/lease.ts'
import { endInPages } from '../statements/end-in-pages.ts'

const pollsBetween = 6

/**
 * Fails messages that could not be sent within their time. It runs apart from the poll for work, so that a large number of
 * expired messages does not delay the poll. An error of one device does not affect the others.
 */
export function startExpiry(
  {
    db,
    config,
    logger,
    metrics,
    publishEventHint,
  }: Pick<DeviceContext, 'db' | 'config' | 'logger' | 'metrics' | 'publishEventHint'>,
  listLeases: () => Lease[],
  /** Messages of this device have expired, which may have held back others. */
  onExpired: (shard: number, deviceId: number) => void,
): Running {
  let isClosed = false
  const ttlMs = config.outbox.messageTtlMs
  const run = makeSingleFlight(expireAll, (err) => logger.warn({ err }, 'Expiry failed, will retry'))
  const timer = setInterval(run, config.outbox.pollMs * pollsBetween)

  async function expireAll(): Promise<void> {
    const leases = new Map(listLeases().map((lease) => [lease.shard, lease]))
    if (leases.size === 0) return
    for (const { id, accountId, shard } of await listDevicesWithExpired(db, [...leases.keys()], ttlMs)) {
      const lease = leases.get(shard)
      if (!lease) continue
      await expire({ id, accountId }, lease).catch((err: unknown) => {
        if (!(err instanceof OwnershipLost)) logger.warn({ err, deviceId: id }, 'Expiry failed, will retry')
      })
    }
  }

  async function expire({ id, accountId }: { id: number; accountId: number }, lease: Lease): Promise<void> {
    const sentence = messageErrors.message_expired
    const expired = await endInPages(
      (from) => expireMessages(db, lease, id, from, { ttlMs, sentence }),
      () => !isClosed && lease.isValid(),
    )
    if (expired === 0) return
    metrics.failures.inc({ code: 'message_expired' }, expired)
    publishEventHint(accountId)
    onExpired(lease.shard, id)
  }

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
    },
  }
}
