import { claimDevices, releaseDevices } from '@wagate/db/queries/devices/device-owner-view'
import { makeCommandConsumers } from '@wagate/queue/command-consumers'
import type { RedisLinks } from '@wagate/queue/redis-links'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { within } from '@wagate/runtime/within'
import type { Device } from '../device/device.ts'
import type { DeviceContext } from '../device/device-context.ts'
import type { Readings, Waits } from '../metrics/metrics.ts'
import type { Lease, ShardHost } from '../ownership/lease.ts'
import { startMediaDownloads } from '../received-media/media-downloads.ts'
import { startExpiry } from '../upkeep/expiry.ts'
import { startGraceWatch } from '../upkeep/grace-watch.ts'
import { commandHandlersOf, deviceOf, type HostedShard, makeHostedShard } from './hosted-shard.ts'
import { startWorkPoll } from './work-poll.ts'

/** `waitingDevices` and `blockedDevices`: at the last poll for work. */
type DeviceCounts = Pick<
  Readings,
  'onlineDevices' | 'waitingDevices' | 'blockedDevices' | 'restrictedDevices' | 'usedUpBudgets'
>

/** If Postgres is down, the next owner marks the devices offline. */
const markOfflineMsMax = 500

/** Runs the devices and the command queues of the owned shards. */
export function startShardHost(
  context: DeviceContext,
  redis: RedisLinks,
): ShardHost & Running & { counts(): DeviceCounts; waits(): Waits } {
  const { db, logger } = context
  const hosted = new Map<number, HostedShard>()
  const work = startWorkPoll(context, hosted)
  const downloads = startMediaDownloads(context, hosted)
  const consumers = makeConsumerStarts({ context, redis, onDropped: work.poll })
  const expiry = startExpiry(context, hosted)
  const graceWatch = startGraceWatch(context, () =>
    [...hosted.values()].flatMap(({ lease, devices }) =>
      [...devices.values()].every((device) => device.isOnline()) ? [] : lease,
    ),
  )

  async function stop(numbers: number[], why: 'released' | 'lost'): Promise<void> {
    const stopping = numbers.flatMap((number) => hosted.get(number) ?? [])
    for (const number of numbers) hosted.delete(number)
    await Promise.all([
      why === 'released' && within(markOfflineMsMax, markOffline(stopping)),
      ...stopping.map(async ({ devices, consumer }) => {
        await (await consumer).close()
        await Promise.all([...devices.values()].map((device) => device.close(why)))
      }),
    ])
  }

  async function markOffline(shards: HostedShard[]): Promise<void> {
    try {
      await releaseDevices(
        db,
        shards.map(({ lease }) => lease),
      )
    } catch (error) {
      logger.warn({ err: error }, 'Could not mark released devices offline')
    }
  }

  const devicesOf = (number: number) => [...(hosted.get(number)?.devices.values() ?? [])]

  return {
    async start(leases: Lease[]) {
      const starting = leases.map(makeHostedShard)
      for (const shard of starting) hosted.set(shard.lease.shard, shard)
      for (const { id, shard: number, hasWaiting } of await claimDevices(db, leases)) {
        const shard = hosted.get(number)
        if (!shard) continue
        const device = deviceOf(context, shard, id)
        if (hasWaiting) device.wake()
        device.reconcile()
      }
      await work.countLinked(leases.map(({ shard }) => shard))
      // Not awaited: sessions open in the meantime. The poll that follows finds what was accepted before.
      void consumers.start(starting)
    },
    stop,
    linkedDevices: (number) => hosted.get(number)?.linked ?? 0,
    isPairing: (number) => devicesOf(number).some((device) => device.isPairing()),
    counts() {
      const devices = [...hosted.keys()].flatMap(devicesOf)
      return {
        onlineDevices: devices.filter((device) => device.isOnline()).length,
        waitingDevices: work.waitingDevices(),
        blockedDevices: work.blockedDevices(),
        restrictedDevices: countRestricted(devices),
        usedUpBudgets: devices.filter((device) => device.isBudgetUsedUp()).length,
      }
    },
    waits: work.waits,
    async close() {
      await work.close()
      await Promise.all([expiry.close(), graceWatch.close(), downloads.close()])
      await stop([...hosted.keys()], 'lost')
      await consumers.close()
    },
  }
}

function countRestricted(devices: Device[]): Readings['restrictedDevices'] {
  const counts: Readings['restrictedDevices'] = {}
  for (const device of devices) {
    const reason = device.restrictionReason()
    if (reason) counts[reason] = (counts[reason] ?? 0) + 1
  }
  return counts
}

/** `close` does not close the consumers: each belongs to its shard. */
type ConsumerStarts = Running & { start(shards: HostedShard[]): Promise<void> }

type ConsumerStartsOptions = {
  context: DeviceContext
  redis: RedisLinks
  /** Commands from before a consumer has started are dropped, so the database must be polled afterwards. */
  onDropped: () => void
}

function makeConsumerStarts({ context, redis, onDropped }: ConsumerStartsOptions): ConsumerStarts {
  // Without Redis, work is found by polling.
  const { failed: onError } = makeOutageLog(context.logger, 'command queues')
  const consumers = makeCommandConsumers(redis)

  return {
    async start(shards) {
      for (const shard of shards) {
        const handlers = commandHandlersOf(context, shard)
        shard.consumer = consumers.start({ shard: shard.lease.shard, handlers, onError, onDropped })
      }
      await Promise.all(shards.map(({ consumer }) => consumer))
      onDropped()
    },
    close: consumers.close,
  }
}
