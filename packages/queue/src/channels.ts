import type { Running } from '@wagate/runtime/running'
import { connectForSubscriptions, firstAttempt, type OnRedisError } from './redis.ts'

type Listener = (message: string) => void

export type Channels = Running & {
  /** Resolves to the function that ends the subscription, after Redis has confirmed it. Rejects without Redis. */
  subscribe(channel: string, listener: Listener): Promise<Leave>
  /** Never rejects. Without Redis, the listener receives messages once Redis is back. */
  join(channel: string, listener: Listener): Leave
  /** How often the connection was lost so far. What was published meanwhile was missed. */
  countLosses(): number
}

export type Leave = () => Promise<void>

const pingMs = 4000

/** Many listeners over one connection. Leaves a channel with its last listener, and subscribes again after an outage. */
export function openChannels(redisUrl: string, onError: OnRedisError): Channels {
  const redis = connectForSubscriptions(redisUrl, onError)
  const connected = firstAttempt(redis)
  const listeners = new Map<string, Set<Listener>>()
  let losses = 0

  redis.on('message', (channel: string, message: string) => {
    for (const listener of listeners.get(channel) ?? []) {
      try {
        listener(message)
      } catch (error) {
        // Any client of Redis may publish, so an unreadable message must not end the process.
        onError(error as Error)
      }
    }
  })
  redis.on('close', () => {
    losses += 1
  })
  redis.on('ready', () => {
    if (listeners.size > 0) redis.subscribe(...listeners.keys()).catch(onError)
  })

  // The socket timeout applies only while a command waits for its reply, and a subscriber sends none otherwise.
  const heartbeat = setInterval(() => redis.ping().catch(() => undefined), pingMs)
  heartbeat.unref()

  function add(channel: string, given: Listener): Leave {
    // A wrapper, so that a function that is passed twice has two independent subscriptions.
    const listener: Listener = (message) => given(message)
    listeners.set(channel, (listeners.get(channel) ?? new Set()).add(listener))
    return async () => {
      const rest = listeners.get(channel)
      if (!rest?.delete(listener) || rest.size > 0) return
      listeners.delete(channel)
      // Without Redis no subscription exists.
      await redis.unsubscribe(channel).catch(() => undefined)
    }
  }

  return {
    async subscribe(channel, listener) {
      await connected
      const leave = add(channel, listener)
      try {
        // Also for a channel with listeners: the confirmation proves that the subscription exists.
        await redis.subscribe(channel)
        return leave
      } catch (error) {
        await leave()
        throw error
      }
    },
    join(channel, listener) {
      const leave = add(channel, listener)
      if (redis.status === 'ready') redis.subscribe(channel).catch(onError)
      return leave
    },
    countLosses: () => losses,
    async close() {
      clearInterval(heartbeat)
      redis.disconnect()
    },
  }
}
