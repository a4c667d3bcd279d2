import type { Running } from '@wagate/runtime/running'
import { connectForSubscriptions, firstAttempt, type OnRedisError } from './redis.ts'

type Listener = (message: string) => void

export type Channels = Running & {
  /** Rejects when Redis is away. Resolves once Redis has confirmed, to the function that ends the subscription. */
  subscribe(channel: string, listener: Listener): Promise<Leave>
  /** Never rejects: without Redis the listener hears what comes once Redis is back. */
  join(channel: string, listener: Listener): Leave
}

export type Leave = () => Promise<void>

const pingMs = 4000

/** Many listeners over one connection; a channel is left with its last listener, and joined again after an outage. */
export function openChannels(redisUrl: string, onError: OnRedisError): Channels {
  const redis = connectForSubscriptions(redisUrl, onError)
  const connected = firstAttempt(redis)
  const listeners = new Map<string, Set<Listener>>()

  redis.on('message', (channel: string, message: string) => {
    for (const listener of listeners.get(channel) ?? []) {
      try {
        listener(message)
      } catch (error) {
        // Anybody with access to Redis may publish: what cannot be read must not end the process.
        onError(error as Error)
      }
    }
  })
  redis.on('ready', () => {
    if (listeners.size > 0) redis.subscribe(...listeners.keys()).catch(onError)
  })

  // Only a command that waits for its answer wakes the socket timeout: a listener never sends one.
  const heartbeat = setInterval(() => redis.ping().catch(() => undefined), pingMs)
  heartbeat.unref()

  function add(channel: string, given: Listener): Leave {
    // One function may be given twice, each subscription ends by itself.
    const listener: Listener = (message) => given(message)
    listeners.set(channel, (listeners.get(channel) ?? new Set()).add(listener))
    return async () => {
      const rest = listeners.get(channel)
      if (!rest?.delete(listener) || rest.size > 0) return
      listeners.delete(channel)
      // Without Redis there is nothing to leave.
      await redis.unsubscribe(channel).catch(() => undefined)
    }
  }

  return {
    async subscribe(channel, listener) {
      await connected
      const leave = add(channel, listener)
      try {
        // Also for a channel already joined: the confirmation proves that it is.
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
    async close() {
      clearInterval(heartbeat)
      redis.disconnect()
    },
  }
}
