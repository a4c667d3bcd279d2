import { makeCommandConsumers } from '@wagate/queue/command-consumers'
import type { RedisLinks } from '@wagate/queue/redis-links'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import type { DeviceContext } from '../device/device-context.ts'
import { commandHandlersOf, type HostedShard } from './hosted-shard.ts'

/** `close` does not close the consumers: each belongs to its shard. */
export type ConsumerStarts = Running & { start(shards: HostedShard[]): Promise<void> }

type ConsumerStartsOptions = {
  context: DeviceContext
  redis: RedisLinks
  /** Commands from before a consumer has started are dropped, so the database must be polled afterwards. */
  onDropped: () => void
}

export function makeConsumerStarts({ context, redis, onDropped }: ConsumerStartsOptions): ConsumerStarts {
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
