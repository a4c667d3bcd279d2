import { setImmediate as turn } from 'node:timers/promises'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import type { RedisLinks } from './redis-links.ts'
import { makeShardConsumer, type ShardConsumer, type ShardConsumerOptions } from './shard-consumer.ts'
import { makeWaitingCommands, type WaitingCommands } from './waiting-commands.ts'

/** The consumers of a process. They share its connections, and cost next to nothing while no commands come. */
export type CommandConsumers = Running & {
  /**
   * Drops the waiting commands of the shard, then handles new ones. Poll the database for work after it returns. Without
   * Redis it returns after `startMsMax` and begins once Redis is available.
   */
  start(options: ShardConsumerOptions): Promise<Running>
}

const retryPause = { firstMs: 500, maxMs: 5000 }
/** Between two sweeps, for each shard: a sweep asks Redis for a key of each. */
const sweepMsOfShard = 8
const sweepMsMin = 2000
const sweepMsMax = 5000

/**
 * Announcements say when commands come. A sweep removes the commands of sends that were only announced, and finds what
 * was not: commands of API processes of an earlier version, and those whose announcement was lost.
 */
export function makeCommandConsumers(links: RedisLinks, { startMsMax = 500 } = {}): CommandConsumers {
  const waiting = makeWaitingCommands(links.requests)
  const begun = new Set<ShardConsumer>()
  const starting = new Map<ShardConsumer, { onBegun(): void }>()
  /** Their commands are known to wait: sends that were announced, or what could not be removed. */
  const pending = new Set<ShardConsumer>()
  let wereMessagesLost = false
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let isClosed = false

  const sweep = makeSingleFlight(
    async () => {
      clearTimeout(timer)
      // Consumers that are started in one turn of the event loop begin together.
      await turn()
      failures += 1
      let pauseMs = growingPauseMs(failures, retryPause)
      try {
        if (wereMessagesLost) await recover()
        await takeWaiting()
        if (starting.size > 0) await beginStarting()
        failures = 0
        pauseMs = Math.min(Math.max(sweepMsMin, sweepMsOfShard * begun.size), sweepMsMax)
      } finally {
        if (!isClosed) timer = setTimeout(sweep, pauseMs).unref()
      }
    },
    (error) => isClosed || links.onError(error as Error),
  )

  async function recover(): Promise<void> {
    const consumers = [...begun]
    await dropShards(waiting, consumers, await waiting.find(shardsOf(consumers), 'active'))
    wereMessagesLost = false
    for (const consumer of consumers) consumer.noteDropped()
  }

  async function takeWaiting(): Promise<void> {
    const known = new Set(pending)
    pending.clear()
    for (const consumer of known) consumer.take()
    const others = [...begun].filter((consumer) => !known.has(consumer))
    const found = await waiting.find(shardsOf(others), 'wait')
    for (const consumer of others) if (found.has(consumer.shard)) consumer.take()
  }

  async function beginStarting(): Promise<void> {
    const consumers = [...starting.keys()]
    const subscribed = await Promise.allSettled(consumers.map((consumer) => consumer.subscribe()))
    for (const outcome of subscribed) if (outcome.status === 'rejected') throw outcome.reason
    const shards = shardsOf(consumers)
    const [active, stale] = await Promise.all([waiting.find(shards, 'active'), waiting.find(shards, 'wait')])
    await dropShards(waiting, consumers, new Set([...active, ...stale]))
    for (const consumer of consumers) {
      const start = starting.get(consumer)
      if (!start) continue
      starting.delete(consumer)
      begun.add(consumer)
      consumer.begin()
      start.onBegun()
    }
  }

  const leaveRestored = links.channels.onRestored(() => {
    wereMessagesLost ||= begun.size > 0
    sweep()
  })

  return {
    async start(options) {
      const onWaiting = (consumer: ShardConsumer) => pending.add(consumer)
      const consumer = makeShardConsumer(links, { waiting, onWaiting }, options)
      let hasReturned = false
      const begins = new Promise<void>((resolve) => {
        starting.set(consumer, { onBegun: () => (hasReturned ? consumer.noteDropped() : resolve()) })
      })
      sweep()
      await within(startMsMax, begins)
      hasReturned = true
      return {
        async close() {
          for (const group of [begun, starting, pending]) group.delete(consumer)
          consumer.close()
        },
      }
    },
    async close() {
      isClosed = true
      leaveRestored()
      clearTimeout(timer)
    },
  }
}

/** As `waiting.find` expects it. */
function shardsOf(consumers: ShardConsumer[]): string {
  return consumers.map(({ shard }) => shard).join(' ')
}

/**
 * Jobs are active when a worker of an earlier version was killed while it handled them. They keep their deduplication
 * keys, so later commands of their kind would be ignored.
 */
async function dropShards(
  waiting: WaitingCommands,
  consumers: ShardConsumer[],
  shards: ReadonlySet<number>,
): Promise<void> {
  await Promise.all(consumers.map(({ shard }) => shards.has(shard) && waiting.drop(shard)))
}
