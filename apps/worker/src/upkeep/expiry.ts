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
import type { Device } from '../device/device.ts'
import type { DeviceContext } from '../device/device-context.ts'
import type { Lease } from '../ownership/lease.ts'
import { endInPages } from '../statements/end-in-pages.ts'

const pollsBetween = 6
/** Their callers may want to know soon that they have to try another way. */
const overdueEveryMs = 1000
/** In one round. They are few statements, which lock the leases of their shards. */
const overdueMax = 1000

/** The owned shards by number, with their devices by id. */
type Hosted = ReadonlyMap<number, { lease: Lease; devices: ReadonlyMap<number, Pick<Device, 'wake'>> }>

/**
 * Fails messages that could not be sent within `MESSAGE_TTL_MS`, or in the time that their callers gave them, and wakes their
 * devices, because they may have held back others. It runs apart from the poll for work, so that a large number of expired
 * messages does not delay the poll. An error of one device does not affect the others.
 */
export function startExpiry(
  {
    db,
    config,
    logger,
    metrics,
    publishEventHint,
  }: Pick<DeviceContext, 'db' | 'config' | 'logger' | 'metrics' | 'publishEventHint'>,
  hosted: Hosted,
): Running {
  let isClosed = false
  const ttlMs = config.outbox.messageTtlMs
  const sentence = messageErrors.message_expired
  const onFailed = (err: unknown) => logger.warn({ err }, 'Expiry failed, will retry')
  const timers = [
    setInterval(makeSingleFlight(expireAll, onFailed), config.outbox.pollMs * pollsBetween),
    setInterval(makeSingleFlight(failOverdue, onFailed), overdueEveryMs),
  ]

  async function expireAll(): Promise<void> {
    const shards = [...hosted.keys()]
    if (shards.length === 0) return
    for (const device of await listDevicesWithExpired(db, shards, ttlMs)) {
      await expire(device, (lease) =>
        endInPages(
          (from) => expireMessages(db, lease, device.id, from, { ttlMs, sentence }),
          () => !isClosed && lease.isValid(),
        ),
      )
    }
  }

  async function failOverdue(): Promise<void> {
    const shards = [...hosted.keys()]
    if (shards.length === 0) return
    for (const messages of groupByDevice(await listOverdueMessages(db, shards, overdueMax))) {
      const [{ deviceId: id, accountId, shard }] = messages
      await expire({ id, accountId, shard }, async (lease) =>
        isClosed || !lease.isValid() ? 0 : failOverdueMessages(db, lease, messages, sentence),
      )
    }
  }

  /** `fail` returns how many messages have failed. */
  async function expire(
    { id, accountId, shard }: { id: number; accountId: number; shard: number },
    fail: (lease: Lease) => Promise<number>,
  ): Promise<void> {
    const owned = hosted.get(shard)
    if (!owned) return
    try {
      const expired = await fail(owned.lease)
      if (expired === 0) return
      metrics.failures.inc({ code: 'message_expired' }, expired)
      publishEventHint(accountId)
      hosted.get(shard)?.devices.get(id)?.wake()
    } catch (err) {
      if (!(err instanceof OwnershipLost)) logger.warn({ err, deviceId: id }, 'Expiry failed, will retry')
    }
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
