import { LRUCache } from 'lru-cache'

/** Numbers whose messages need not be counted: known contacts, and new ones that have counted. */
export type CountedContacts = { has(number: string): boolean; add(number: string): void }

const dayMs = 86_400_000

/** One bounded cache for all devices of the process. What it has forgotten is found out with the next claim. */
export function makeCountedContactsCache(): (deviceId: number) => CountedContacts {
  const known = new LRUCache<string, true>({
    // A `max` would reserve the memory of all of them now.
    maxSize: 200_000,
    sizeCalculation: () => 1,
    ttl: dayMs,
  })
  return (deviceId) => ({
    has: (number) => known.has(`${deviceId} ${number}`),
    add: (number) => void known.set(`${deviceId} ${number}`, true),
  })
}
