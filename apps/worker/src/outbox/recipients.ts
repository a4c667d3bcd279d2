import { LRUCache } from 'lru-cache'

/** Asks WhatsApp which of these numbers have an account: JIDs by number, absent for those that have none. */
export type LookUp = (numbers: string[]) => Promise<Map<string, string>>

/** `undefined`: not known yet. `null`: not on WhatsApp. */
export type Recipients = {
  find(number: string): string | null | undefined
  /** Looks up what is not known; throws when WhatsApp does not answer. */
  resolve(numbers: string[], lookUp: LookUp): Promise<void>
}

const dayMs = 86_400_000
const hourMs = 3_600_000

/** Known recipients of all senders of the process: an account exists for everybody or nobody. */
export function makeRecipients(): Recipients {
  const known = new LRUCache<string, { jid: string | null }>({ max: 200_000 })
  return {
    find: (number) => known.get(number)?.jid,
    async resolve(numbers, lookUp) {
      const unknown = numbers.filter((number) => !known.has(number))
      if (unknown.length === 0) return
      const found = await lookUp(unknown)
      for (const number of unknown) {
        const jid = found.get(number) ?? null
        known.set(number, { jid }, { ttl: jid ? 7 * dayMs : hourMs })
      }
    },
  }
}
