import { setImmediate as turn } from 'node:timers/promises'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import type { RedisLinks } from './redis-links.ts'
import { makeShardConsumer, type ShardConsumer, type ShardConsumerOptions } from './shard-consumer.ts'
import { makeWaitingCommands } from './waiting-commands.ts'

/** The consumers of a process. They share its connections, and cost next to nothing while no commands come. */
export type CommandConsumers = Running & {
  /**
   * Drops the waiting commands of the shard, then handles new ones. Poll the database for work after it returns. Without
   * Redis it returns after half a second and begins once Redis is available.
   */
  start(options: ShardConsumerOptions): Promise<Running>
}

const startMsMax = 500
const retryMs = 500
/** Between two sweeps, for each shard: a sweep asks Redis for two keys of each. */
const sweepMsOfShard = 4
const sweepMsMin = 1000
const sweepMsMax = 5000

/**
 * Announcements say when commands come. A sweep removes the commands of sends that were only announced, and finds what
 * was not: commands of API processes of an earlier version, and those whose announcement was lost.
 */
export function makeCommandConsumers(links: RedisLinks): CommandConsumers {
  const waiting = makeWaitingCommands(links.requests)
  const consumers = new Set<ShardConsumer>()
  /** Of consumers that have not begun. */
  const onBegun = new Map<ShardConsumer, () => void>()
  let wereMessagesLost = false
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const sweep = makeSingleFlight(
    async () => {
      clearTimeout(timer)
      // Consumers that are started in one turn of the event loop begin together.
      await turn()
      let pauseMs = retryMs
      try {
        await sweepBegun()
        await beginOthers()
        pauseMs = Math.min(Math.max(sweepMsMin, sweepMsOfShard * consumers.size), sweepMsMax)
      } finally {
        if (!isClosed) timer = setTimeout(sweep, pauseMs).unref()
      }
    },
    (error) => isClosed || links.onError(error as Error),
  )

  async function sweepBegun(): Promise<void> {
    const begun = [...consumers].filter(({ hasBegun }) => hasBegun)
    const wereLost = wereMessagesLost
    const quiet = begun.filter(({ hasWaiting }) => !hasWaiting)
    const [active, found] = await Promise.all([findAmong(begun, 'active'), findAmong(quiet, 'wait')])
    // A worker of an earlier version that is killed while it handles a command leaves it behind. Later commands of its
    // kind would be ignored.
    await Promise.all(active.map(({ shard }) => waiting.drop(shard)))
    if (wereLost) wereMessagesLost = false
    for (const consumer of wereLost ? begun : active) consumer.noteDropped()
    for (const consumer of begun) if (consumer.hasWaiting || found.includes(consumer)) consumer.take()
  }

  async function beginOthers(): Promise<void> {
    const starting = [...consumers].filter(({ hasBegun }) => !hasBegun)
    const subscribed = await Promise.allSettled(starting.map((consumer) => consumer.subscribe()))
    for (const outcome of subscribed) if (outcome.status === 'rejected') throw outcome.reason
    const stale = await Promise.all([findAmong(starting, 'active'), findAmong(starting, 'wait')])
    await Promise.all([...new Set(stale.flat())].map(({ shard }) => waiting.drop(shard)))
    for (const consumer of starting) {
      consumer.begin()
      onBegun.get(consumer)?.()
      onBegun.delete(consumer)
    }
  }

  async function findAmong(some: ShardConsumer[], state: 'active' | 'wait'): Promise<ShardConsumer[]> {
    const shards = new Set(
      await waiting.findShards(
        some.map(({ shard }) => shard),
        state,
      ),
    )
    return some.filter(({ shard }) => shards.has(shard))
  }

  const leaveRestored = links.channels.onRestored(() => {
    wereMessagesLost ||= [...consumers].some(({ hasBegun }) => hasBegun)
    sweep()
  })

  return {
    async start(options) {
      const consumer = makeShardConsumer(links, waiting, options)
      let hasReturned = false
      const begun = new Promise<void>((resolve) => {
        onBegun.set(consumer, () => (hasReturned ? consumer.noteDropped() : resolve()))
      })
      consumers.add(consumer)
      sweep()
      await within(startMsMax, begun)
      hasReturned = true
      return {
        async close() {
          consumers.delete(consumer)
          onBegun.delete(consumer)
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
