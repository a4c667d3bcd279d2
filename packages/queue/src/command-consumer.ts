import { setTimeout as delay } from 'node:timers/promises'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import { type Command, type CommandHandlers, commandSchema } from '@wagate/shared/commands'
import { type Queue, Worker } from 'bullmq'
import { type Redis, ReplyError } from 'ioredis'
import { commandQueue, openCommandQueue } from './command-queue.ts'
import { connectForConsumers, type OnRedisError } from './redis.ts'

/** The connection that all consumers of a process share. Each opens a second, blocking one beside it. */
export type ConsumerConnection = Running & { readonly redis: Redis }

const retryMs = 500
const startMsMax = 500
const lookMs = 5000
const ignore = () => undefined

type Options = {
  shard: number
  handlers: CommandHandlers
  onError: OnRedisError
  /** It has dropped what came after it was returned: look at the database. */
  onDropped?: () => void
}

export function openConsumerConnection(redisUrl: string, onError: OnRedisError): ConsumerConnection {
  const redis = connectForConsumers(redisUrl, onError)
  // Every consumer listens for errors and closing.
  redis.setMaxListeners(0)
  return {
    redis,
    async close() {
      redis.disconnect()
    },
  }
}

/**
 * Drops the commands that wait for this shard, then consumes what comes: look at the database after this.
 * Without Redis it returns after half a second and begins by itself once Redis is there. After an outage, or when
 * Redis refused to write, it drops what waits again.
 */
export async function startCommandConsumer(
  connection: ConsumerConnection,
  { shard, handlers, onError, onDropped }: Options,
): Promise<Running> {
  const { redis } = connection
  // The connection reports its errors already.
  const queue = openCommandQueue(redis, shard, ignore)
  let worker: Worker | undefined
  let isClosed = false
  /** Tells whoever waits for the next drop. */
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
        // A former owner that does not know it yet may be dropping at the same moment: BullMQ refuses one of both.
        onError(error as Error)
        await delay(retryMs, undefined, { ref: false })
      }
    }
    if (isClosed) return
    worker ??= startWorker(redis, shard, handlers, { onError, onRefused: drop })
    announce()
  }

  /**
   * A former owner that is killed while it drops what waits leaves the queue paused, and FLUSHALL takes the length of
   * the event stream with it. Neither says so to anybody.
   */
  async function look(): Promise<void> {
    if (!worker || redis.status !== 'ready') return
    const [paused, eventsMax] = await redis.hmget(queue.toKey('meta'), 'paused', 'opts.maxLenEvents')
    if (paused !== null || eventsMax !== '0') drop()
  }

  const timer = setInterval(() => void look().catch(ignore), lookMs)
  drop()
  await within(startMsMax, firstDrop)
  announce = onDropped ?? ignore
  redis.on('ready', drop)

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      redis.off('ready', drop)
      // By force: a handler that still runs is finished by its own means, its job is dropped by the next owner.
      await worker?.close(true)
      // It listens on the connection that outlives it.
      await queue.close()
    },
  }
}

/**
 * A command that was being handled when its owner was killed, that Redis handed out over a connection that was lost,
 * or whose end a full Redis refused to write, keeps its deduplication key, and every later one of its kind would be
 * swallowed. Nothing is lost: rows are committed before their command is added.
 */
async function dropWaiting(redis: Redis, queue: Queue): Promise<void> {
  await queue.obliterate({ force: true })
  // Nobody reads the event stream; BullMQ's scripts take its length from here (the option of a Queue writes the same).
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
    // Only this owner takes jobs of this queue, so a lock protects nothing, but a lapsed one makes a job stay
    // active for ever, and its deduplication key with it.
    lockDuration: 3_600_000,
    // Below the socket timeout of the connection, which the blocking one inherits.
    drainDelay: 5,
    runRetryDelay: 1000,
  })
  // In an outage the shared connection reports once what every consumer would repeat.
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
