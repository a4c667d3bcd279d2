import { setTimeout as delay } from 'node:timers/promises'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import { type Command, type CommandHandlers, commandSchema } from '@wagate/shared/commands'
import { type Queue, Worker } from 'bullmq'
import { type Redis, ReplyError } from 'ioredis'
import { commandQueue, openCommandQueue } from './command-queue.ts'
import { connectForConsumers, type OnRedisError } from './redis.ts'

/** The connection that all consumers of a process share. Each consumer opens another, blocking one. */
export type ConsumerConnection = Running & { readonly redis: Redis }

const retryMs = 500
const startMsMax = 500
const checkMs = 5000
const ignore = () => undefined

type Options = {
  shard: number
  handlers: CommandHandlers
  onError: OnRedisError
  /** Called when it drops commands after the start: poll the database for work. */
  onDropped?: () => void
}

export function openConsumerConnection(redisUrl: string, onError: OnRedisError): ConsumerConnection {
  const redis = connectForConsumers(redisUrl, onError)
  // Every consumer adds listeners for errors and closing.
  redis.setMaxListeners(0)
  return {
    redis,
    async close() {
      redis.disconnect()
    },
  }
}

/**
 * Drops the waiting commands of this shard, then consumes new ones. Poll the database for work after it returns. Without
 * Redis it returns after half a second and starts consuming once Redis is available. It drops waiting commands again
 * after an outage, and when Redis has refused a write.
 */
export async function startCommandConsumer(
  connection: ConsumerConnection,
  { shard, handlers, onError, onDropped }: Options,
): Promise<Running> {
  const { redis } = connection
  // The shared connection already reports its errors.
  const queue = openCommandQueue(redis, shard, ignore)
  let worker: Worker | undefined
  let isClosed = false
  /** Called after each drop: first to end the start, then as `onDropped`. */
  let announce: () => void = ignore
  const firstDrop = new Promise<void>((resolve) => {
    announce = resolve
  })
  const drop = makeSingleFlight(dropUntilDone, (error) => onError(error as Error))

  async function dropUntilDone(): Promise<void> {
    while (!isClosed) {
      try {
        await dropWaiting(redis, queue)
        break
      } catch (error) {
        if (isClosed) return
        // A former owner that has not noticed its loss may drop at the same time. BullMQ then refuses one of both.
        onError(error as Error)
        await delay(retryMs, undefined, { ref: false })
      }
    }
    if (isClosed) return
    worker ??= startWorker(redis, shard, handlers, { onError, onRefused: drop })
    announce()
  }

  /**
   * A former owner that is killed while it drops commands leaves the queue paused, and FLUSHALL deletes the length of the
   * event stream. Neither causes an error or an event.
   */
  async function checkQueue(): Promise<void> {
    if (!worker || redis.status !== 'ready') return
    const [paused, eventsMax] = await redis.hmget(queue.toKey('meta'), 'paused', 'opts.maxLenEvents')
    if (paused !== null || eventsMax !== '0') drop()
  }

  const timer = setInterval(() => void checkQueue().catch(ignore), checkMs)
  drop()
  await within(startMsMax, firstDrop)
  announce = onDropped ?? ignore
  redis.on('ready', drop)

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      redis.off('ready', drop)
      // Forced: a running handler finishes on its own, and the next owner drops its job.
      await worker?.close(true)
      // It has listeners on the connection, which outlives it.
      await queue.close()
    },
  }
}

/**
 * A command keeps its deduplication key if its owner was killed while handling it, if Redis delivered it over a lost
 * connection, or if a full Redis refused to record its end. Later commands of its kind would then be ignored. Dropping
 * loses nothing, because rows are committed before their command is added.
 */
async function dropWaiting(redis: Redis, queue: Queue): Promise<void> {
  await queue.obliterate({ force: true })
  // The event stream is unused. BullMQ's scripts read its length from here, where the option of a Queue writes it too.
  await redis.hset(queue.toKey('meta'), 'opts.maxLenEvents', 0)
}

type WorkerEvents = { onError: OnRedisError; onRefused(): void }

function startWorker(
  redis: Redis,
  shard: number,
  handlers: CommandHandlers,
  { onError, onRefused }: WorkerEvents,
): Worker {
  const { name, prefix } = commandQueue(shard)
  const worker = new Worker(name, (job) => handle(handlers, job.data), {
    connection: redis,
    prefix,
    concurrency: 50,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipStalledCheck: true,
    // Only this owner processes jobs of this queue, so a lock protects nothing. But if it expires, the job stays active
    // and keeps its deduplication key.
    lockDuration: 3_600_000,
    // In seconds. Below the socket timeout, which the blocking connection inherits.
    drainDelay: 5,
    runRetryDelay: 1000,
  })
  // During an outage the shared connection reports the error once, for all consumers.
  worker.on('error', (error) => {
    if (redis.status === 'ready') onError(error)
    if (error instanceof ReplyError) onRefused()
  })
  worker.on('failed', (_job, error) => onError(error))
  return worker
}

async function handle(handlers: CommandHandlers, payload: unknown): Promise<void> {
  const command = commandSchema.parse(payload)
  const handler = handlers[command.kind] as (command: Command) => Promise<void>
  await handler(command)
}
