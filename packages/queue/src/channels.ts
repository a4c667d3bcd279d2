import { setImmediate as turn } from 'node:timers/promises'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import type { Running } from '@wagate/runtime/running'
import { ReplyError } from 'ioredis'
import { connectForSubscriptions, firstAttempt, type OnRedisError } from './redis.ts'

type Listener = (message: string) => void

export type Channels = Running & {
  /** Resolves to the function that ends the subscription, after Redis has confirmed it. Rejects without Redis. */
  subscribe(channel: string, listener: Listener): Promise<Leave>
  /** Never rejects. Without Redis, the listener receives messages once Redis is back. */
  join(channel: string, listener: Listener): Leave
  /** How often the connection was lost so far. What was published meanwhile was missed. */
  countLosses(): number
  /** Calls the listener after each connection, once all subscriptions exist again. Messages before were lost. */
  onRestored(listener: () => void): () => void
}

export type Leave = () => Promise<void>

const pingMs = 4000
/** A worker subscribes to a channel for each of its shards. */
const namesMax = 1000

/** Many listeners over one connection. Leaves a channel with its last listener, and subscribes again after an outage. */
export function openChannels(redisUrl: string, onError: OnRedisError): Channels {
  const redis = connectForSubscriptions(redisUrl, onError)
  const connected = firstAttempt(redis)
  const listeners = new Map<string, Set<Listener>>()
  let losses = 0
  const restoredListeners = new Set<() => void>()
  let joining: { names: string[]; confirmed: Promise<void> } | undefined

  /** Shards come by the hundred: those of one turn of the event loop share a command. It does not wait for earlier ones. */
  function subscribeInTurn(name: string): Promise<void> {
    joining ??= { names: [], confirmed: turn().then(subscribeAll) }
    joining.names.push(name)
    return joining.confirmed
  }

  async function subscribeAll(): Promise<void> {
    const names = joining?.names ?? []
    joining = undefined
    await redis.subscribe(...names)
  }

  const leaves = makeNaturalBatch<string, undefined>(
    async (names) => {
      const left = names.filter((name) => !listeners.has(name))
      if (left.length > 0) await redis.unsubscribe(...left)
      return names.map(() => undefined)
    },
    { itemsMax: namesMax },
  )

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
  redis.on('close', () => void losses++)
  redis.on('ready', () => void restore())

  async function restore(): Promise<void> {
    try {
      const names = [...listeners.keys()]
      await Promise.all(chunksOf(names).map((chunk) => redis.subscribe(...chunk)))
      for (const listener of restoredListeners) listener()
    } catch (error) {
      onError(error as Error)
      // Some subscriptions may be missing. The next connection tries all of them again, unless Redis forbids them.
      if (redis.status === 'ready' && !(error instanceof ReplyError)) redis.disconnect(true)
    }
  }

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
      await leaves.add(channel).catch(() => undefined)
    }
  }

  return {
    async subscribe(channel, listener) {
      await connected
      const leave = add(channel, listener)
      try {
        // Also for a channel with listeners: the confirmation proves that the subscription exists.
        await subscribeInTurn(channel)
        return leave
      } catch (error) {
        // Without an answer to this, the caller would wait as long again.
        void leave()
        throw error
      }
    },
    join(channel, listener) {
      const leave = add(channel, listener)
      if (redis.status === 'ready') subscribeInTurn(channel).catch(onError)
      return leave
    },
    countLosses: () => losses,
    onRestored(listener) {
      restoredListeners.add(listener)
      return () => void restoredListeners.delete(listener)
    },
    async close() {
      clearInterval(heartbeat)
      redis.disconnect()
    },
  }
}

function chunksOf(names: string[]): string[][] {
  const count = Math.ceil(names.length / namesMax)
  return Array.from({ length: count }, (_, index) => names.slice(index * namesMax, (index + 1) * namesMax))
}
