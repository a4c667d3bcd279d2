import {
  expireMessages,
  failOverdueMessages,
  listDevicesWithExpired,
  listOverdueMessages,
  type OverdueMessage,
} from '@wagate/db/queries/messages/unsendable-messages'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { messageErrors } from '@wagate/shared/message-errors'
import type { DeviceContext } from '../device/device-context.ts'
import type { Lease } from '../ownership/lease.ts'
import { endInPages } from '../statements/end-in-pages.ts'

const pollsBetween = 6
/** Their callers may want to know soon that they have to try another way. */
const overdueEveryMs = 1000
/** In one round. They are few statements, which lock the leases of their shards. */
const overdueMax = 1000

/**
 * Fails messages that could not be sent within `MESSAGE_TTL_MS`, or in the time that their callers gave them. It runs apart
 * from the poll for work, so that a large number of expired messages does not delay the poll. An error of one device does
 * not affect the others.
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
  const onFailed = (err: unknown) => logger.warn({ err }, 'Expiry failed, will retry')
  const timers = [
    setInterval(makeSingleFlight(expireAll, onFailed), config.outbox.pollMs * pollsBetween),
    setInterval(makeSingleFlight(failOverdue, onFailed), overdueEveryMs),
  ]
  const leasesByShard = () => new Map(listLeases().map((lease) => [lease.shard, lease]))

  async function expireAll(): Promise<void> {
    const leases = leasesByShard()
    if (leases.size === 0) return
    for (const { id, accountId, shard } of await listDevicesWithExpired(db, [...leases.keys()], ttlMs)) {
      const lease = leases.get(shard)
      if (!lease) continue
      await expire({ id, accountId }, lease).catch((err: unknown) => {
        if (!(err instanceof OwnershipLost)) logger.warn({ err, deviceId: id }, 'Expiry failed, will retry')
      })
    }
  }

  async function failOverdue(): Promise<void> {
    const leases = leasesByShard()
    if (leases.size === 0) return
    const overdue = await listOverdueMessages(db, [...leases.keys()], overdueMax)
    for (const messages of groupByDevice(overdue)) {
      const [{ deviceId: id, accountId, shard }] = messages
      const lease = leases.get(shard)
      if (!lease || isClosed || !lease.isValid()) continue
      try {
        const failed = await failOverdueMessages(db, lease, messages, messageErrors.message_expired)
        if (failed > 0) announce(failed, { id, accountId }, lease)
      } catch (err) {
        if (!(err instanceof OwnershipLost)) logger.warn({ err, deviceId: id }, 'Expiry failed, will retry')
      }
    }
  }

  async function expire({ id, accountId }: { id: number; accountId: number }, lease: Lease): Promise<void> {
    const sentence = messageErrors.message_expired
    const expired = await endInPages(
      (from) => expireMessages(db, lease, id, from, { ttlMs, sentence }),
      () => !isClosed && lease.isValid(),
    )
    if (expired > 0) announce(expired, { id, accountId }, lease)
  }

  function announce(
    expired: number,
    { id, accountId }: { id: number; accountId: number },
    lease: Lease,
  ): void {
    metrics.failures.inc({ code: 'message_expired' }, expired)
    publishEventHint(accountId)
    onExpired(lease.shard, id)
  }

  return {
    async close() {
      isClosed = true
      for (const timer of timers) clearInterval(timer)
    },
  }
}

function groupByDevice(overdue: OverdueMessage[]): [OverdueMessage, ...OverdueMessage[]][] {
  const groups = new Map<number, [OverdueMessage, ...OverdueMessage[]]>()
  for (const message of overdue) {
    const group = groups.get(message.deviceId)
    if (group) group.push(message)
    else groups.set(message.deviceId, [message])
  }
  return [...groups.values()]
}
