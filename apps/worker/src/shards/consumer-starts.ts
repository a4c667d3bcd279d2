import { setTimeout as delay } from 'node:timers/promises'
import { openConsumerConnection, startCommandConsumer } from '@wagate/queue/command-consumer'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import type { DeviceContext } from '../context.ts'
import { commandHandlersOf, type HostedShard } from './hosted-shard.ts'

/** `close` does not close the consumers: each belongs to its shard. */
export type ConsumerStarts = Running & {
  /** Starts the consumers of shards with devices at once, and the others when no device logs in. */
  start(shards: HostedShard[]): Promise<void>
}

type ConsumerStartsOptions = {
  context: DeviceContext
  hosted: ReadonlyMap<number, HostedShard>
  /** Commands from before a consumer has started are dropped, so the database must be polled afterwards. */
  onDropped: () => void
}

/** For shards without devices: consumers per group, and the pause before each group, which also waits for logins. */
const startedAtOnce = 4
const pauseMs = 100
const loginsWaitMsMax = 500

export function makeConsumerStarts({ context, hosted, onDropped }: ConsumerStartsOptions): ConsumerStarts {
  const { config, logger, logins } = context
  // Without Redis, work is found by polling.
  const onError = makeOutageLog(logger, 'command queues').failed
  const connection = openConsumerConnection(config.redisUrl, onError)
  const waiting: HostedShard[] = []
  const startWaiting = makeSingleFlight(async () => {
    while (waiting.length > 0 && hosted.size > 0) {
      await untilNoLogins()
      await startNow(waiting.splice(0, startedAtOnce))
    }
  }, onError)

  async function untilNoLogins(): Promise<void> {
    const atLatestMs = performance.now() + loginsWaitMsMax
    do await delay(pauseMs)
    while (!logins.isIdle() && performance.now() < atLatestMs)
  }

  async function startNow(shards: HostedShard[]): Promise<void> {
    // Some may have been stopped in the meantime.
    const starting = shards.filter((shard) => hosted.get(shard.lease.shard) === shard)
    for (const shard of starting) {
      shard.consumer = startCommandConsumer(connection, {
        shard: shard.lease.shard,
        handlers: commandHandlersOf(context, shard),
        onError,
        onDropped,
      })
    }
    await Promise.all(starting.map(({ consumer }) => consumer))
    onDropped()
  }

  return {
    async start(shards) {
      await startNow(shards.filter(({ devices }) => devices.size > 0))
      // Starting 240 consumers costs as much CPU as 24 logins, and shards without devices have no commands yet.
      waiting.push(...shards.filter(({ devices }) => devices.size === 0))
      startWaiting()
    },
    close: connection.close,
  }
}
