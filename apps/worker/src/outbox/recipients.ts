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
  const known = new LRUCache<string, Known>({
    // A `max` would reserve the memory of all of them now.
    maxSize: 200_000,
    sizeCalculation: () => 1,
  })
  return (deviceId) => {
    const keyOf = (number: string) => `${deviceId} ${number}`
    return {
      find(number) {
        const found = known.get(keyOf(number))
        return found === sameNumber ? jidOf(number) : found?.jid
      },
      set(number, jid) {
        const value = jid === jidOf(number) ? sameNumber : { jid }
        known.set(keyOf(number), value, { ttl: jid ? 7 * dayMs : hourMs })
      },
    }
  }
}

type Known = { jid: string | null }

/** Nearly all: without an object and a text of their own, a contact takes half the memory. */
const sameNumber: Known = { jid: null }

const jidOf = (number: string) => `${number}@s.whatsapp.net`
