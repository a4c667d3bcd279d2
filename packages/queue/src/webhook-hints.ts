import type { Running } from '@wagate/runtime/running'
import { webhookHintSchema } from '@wagate/shared/webhook-hint'
import { Queue, Worker } from 'bullmq'
import { connectForConsumers, type OnRedisError } from './redis.ts'
import type { RedisLinks } from './redis-links.ts'

/** Wakes a dispatcher: a webhook is new, was changed, or has something to deliver. */
export type WebhookHints = {
  /** Best effort. A dispatcher finds what a lost hint would have announced with its next poll. */
  add(webhookId: number): Promise<void>
}

/** Its name and prefix must not change: several versions share it during a rolling upgrade. */
const queueName = 'webhooks'
const prefix = '{wa:webhooks}'

/** Without these, BullMQ sends further commands and waits for a connection. */
const sendsNothingElse = { skipVersionCheck: true, skipWaitingForReady: true }

export function makeWebhookHints({ requests, connected, onError }: RedisLinks): WebhookHints {
  const queue = new Queue(queueName, {
    connection: requests,
    prefix,
    skipMetasUpdate: true,
    ...sendsNothingElse,
  })
  queue.on('error', onError)

  return {
    async add(webhookId) {
      await connected
      await queue
        .add('hint', webhookHintSchema.parse({ webhookId }), {
          // A hint that is being handled does not make a later one redundant: the database was read before.
          deduplication: { id: String(webhookId), keepLastIfActive: true },
          attempts: 1,
          removeOnComplete: true,
          removeOnFail: true,
        })
        .catch(onError)
    },
  }
}

/** Each hint goes to one of the consumers. Without Redis, it consumes once Redis is available. */
export function consumeWebhookHints(
  redisUrl: string,
  { onHint, onError }: { onHint(webhookId: number): void; onError: OnRedisError },
): Running {
  const redis = connectForConsumers(redisUrl, onError)
  const worker = new Worker(queueName, async (job) => onHint(webhookHintSchema.parse(job.data).webhookId), {
    connection: redis,
    prefix,
    ...sendsNothingElse,
    // In seconds. Below the socket timeout, which the blocking connection inherits.
    drainDelay: 5,
    runRetryDelay: 1000,
  })
  // During an outage the connection reports the error.
  worker.on('error', (error) => {
    if (redis.status === 'ready') onError(error)
  })
  worker.on('failed', (_job, error) => onError(error))

  return {
    async close() {
      await worker.close(true)
      redis.disconnect()
    },
  }
}
