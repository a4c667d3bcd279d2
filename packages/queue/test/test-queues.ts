import type { Running } from '@wagate/runtime/running'
import type { CommandHandlers } from '@wagate/shared/commands'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { Queue, Worker } from 'bullmq'
import { type CommandConsumers, makeCommandConsumers } from '../src/command-consumers.ts'
import { type CommandProducer, makeCommandProducer } from '../src/command-producer.ts'
import { commandQueue } from '../src/command-queue.ts'
import { connectForConsumers } from '../src/redis.ts'
import { openRedisLinks, type RedisLinks } from '../src/redis-links.ts'

type Options = { consumers?: CommandConsumers; onError?(error: Error): void; onDropped?(): void }

/** Producers and consumers of commands on one Redis database. `close` closes everything that was opened here. */
export type TestQueues = {
  redisUrl: string
  produce(url?: string): CommandProducer
  open(url?: string): RedisLinks
  /** Starting one waits until it has begun, however slow the machine is, unless told otherwise. */
  consumers(url?: string, options?: { startMsMax?: number }): CommandConsumers
  /** Fails on commands without a handler. */
  consume(shard: number, handlers: Partial<CommandHandlers>, options?: Options): Promise<Running>
  startProxy(): Promise<TcpProxy>
  /** Claims a command as Redis does when the reply to the owner is lost. */
  loseCommand(shard: number): Promise<void>
  countJobs(shard: number): Promise<number>
  /** Closes this too. */
  onClose(close: () => Promise<unknown>): void
  close(): Promise<unknown>
}

const shards = 256
const ignore = () => undefined

export async function openTestQueues(): Promise<TestQueues> {
  const redisUrl = await testRedisUrl()
  const closers: (() => Promise<unknown>)[] = []
  const closedLater = <Opened extends { close(): Promise<unknown> }>(opened: Opened): Opened => {
    closers.push(() => opened.close())
    return opened
  }
  const open = (url = redisUrl) => closedLater(openRedisLinks(url, { onError: ignore }))
  const makeConsumers = (url?: string, { startMsMax = 20_000 } = {}) =>
    closedLater(makeCommandConsumers(open(url), { startMsMax }))
  return {
    redisUrl,
    open,
    produce: (url) => makeCommandProducer(open(url), { shards }),
    consumers: makeConsumers,
    async consume(shard, given, { consumers = makeConsumers(), onError = ignore, ...options } = {}) {
      return closedLater(await consumers.start({ ...options, shard, handlers: handlers(given), onError }))
    },
    startProxy: async () => closedLater(await startTcpProxy(redisUrl)),
    loseCommand: (shard) => loseCommand(redisUrl, shard),
    countJobs: (shard) => countJobs(redisUrl, shard),
    onClose: (close) => void closers.push(close),
    close: () => Promise.all(closers.map((close) => close())),
  }
}

export function handlers(given: Partial<CommandHandlers>): CommandHandlers {
  const unexpected = async () => {
    throw new Error('No such command was expected')
  }
  return {
    send: unexpected,
    'start-session': unexpected,
    'end-session': unexpected,
    'apply-settings': unexpected,
    'check-number': unexpected,
    'request-pairing-code': unexpected,
    'submit-passkey': unexpected,
    'confirm-passkey': unexpected,
    'mark-read': unexpected,
    ...given,
  }
}

async function loseCommand(redisUrl: string, shard: number): Promise<void> {
  const redis = connectForConsumers(redisUrl, ignore)
  const { name, prefix } = commandQueue(shard)
  const worker = new Worker(name, undefined, { connection: redis, prefix, lockDuration: 3_600_000 })
  const job = await worker.getNextJob('lost')
  await worker.close(true)
  redis.disconnect()
  if (!job) throw new Error('There is no command to lose')
}

async function countJobs(redisUrl: string, shard: number): Promise<number> {
  const redis = connectForConsumers(redisUrl, ignore)
  const { name, prefix } = commandQueue(shard)
  const queue = new Queue(name, { connection: redis, prefix, skipMetasUpdate: true })
  queue.on('error', ignore)
  try {
    const counts = await queue.getJobCounts()
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  } finally {
    await queue.close()
    redis.disconnect()
  }
}
