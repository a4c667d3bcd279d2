import { LRUCache } from 'lru-cache'

/** What WhatsApp has said about numbers. `undefined`: nothing yet. `null`: not on WhatsApp. */
export type Recipients = {
  find(number: string): string | null | undefined
  set(number: string, jid: string | null): void
}

const dayMs = 86_400_000
const hourMs = 3_600_000

/**
 * One bounded cache for all devices of the process. Each device sees only its own entries: response times must not reveal
 * to one tenant which numbers another has looked up.
 */
export function makeRecipientsCache(): (deviceId: number) => Recipients {
  const known = new LRUCache<string, { jid: string | null }>({
    // A `max` would reserve the memory of all of them now.
    maxSize: 200_000,
    sizeCalculation: () => 1,
  })
  return (deviceId) => {
    const keyOf = (number: string) => `${deviceId} ${number}`
    return {
      find: (number) => known.get(keyOf(number))?.jid,
      set: (number, jid) => void known.set(keyOf(number), { jid }, { ttl: jid ? 7 * dayMs : hourMs }),
    }
  }
}
