import type { LearntContact } from '@wagate/db/queries/contacts/learn-contacts'
import type { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { lidKey } from '@wagate/shared/contact-key'
import type { SignalKeyStore } from 'baileys'
import { makeRecentMap } from '../../caches/recent-map.ts'
import type { Lease } from '../../ownership/lease.ts'
import { numbersOf } from '../credentials/privacy-tokens.ts'

type Learnt = Pick<LearntContact, 'lidJid' | 'number' | 'username'>
type NumberListener = (lidJid: string, number: string) => void

/** What WhatsApp tells a device of the people behind LIDs. Outlives a connection. */
export type DeviceContacts = {
  /** Resolves when it is stored, at once for what was stored today. Throws OwnershipLost. */
  note(learnt: Learnt): Promise<void>
  /** Calls when the number of a LID was stored. Returns the function that ends the subscription. */
  onNumber(listener: NumberListener): () => void
}

/** The oldest entries are dropped first, so those contacts are merely stored again. */
const notedMax = 1000
const dayMs = 86_400_000

export function makeDeviceContacts(
  { id: deviceId, lease }: { id: number; lease: Lease },
  store: (learnt: LearntContact) => Promise<OwnershipLost | undefined>,
): DeviceContacts {
  const noted = makeRecentMap<string, { number: string | null; username: string | null; day: number }>(
    notedMax,
  )
  const listeners = new Set<NumberListener>()

  return {
    async note({ lidJid, number, username = null }) {
      const known = noted.get(lidJid)
      const merged = {
        number: number ?? known?.number ?? null,
        username: username ?? known?.username ?? null,
        day: Math.floor(Date.now() / dayMs),
      }
      const isKnown = known?.number === merged.number && known.username === merged.username
      if (isKnown && known.day === merged.day) return
      const lost = await store({ fence: lease, deviceId, lidJid, number, username })
      if (lost) throw lost
      noted.set(lidJid, merged)
      if (number !== null && known?.number !== number)
        for (const listener of [...listeners]) listener(lidJid, number)
    },
    onNumber(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Notes the numbers of LIDs before Baileys remembers them: it stores a pair that it knows no second time. */
export function noteNumbers(keys: SignalKeyStore, note: DeviceContacts['note']): SignalKeyStore {
  return {
    get: keys.get,
    async set(data) {
      const pairs = numbersOf(data['lid-mapping'] ?? {})
      await Promise.all(pairs.map(([number, lid]) => note({ lidJid: lidKey(lid), number })))
      await keys.set(data)
    },
  }
}
