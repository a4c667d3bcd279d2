import type { LearntContact } from '@wagate/db/queries/contacts/learn-contacts'
import type { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { lidKey } from '@wagate/shared/contact-key'
import type { SignalKeyStore } from 'baileys'
import type { Scope } from '../../caches/scoped-cache.ts'
import type { Lease } from '../../ownership/lease.ts'
import { numbersOf } from '../credentials/lid-mappings.ts'

type Learnt = Pick<LearntContact, 'lidJid' | 'number' | 'username'>
type NumberListener = (lidJid: string, number: string) => void

/** What WhatsApp tells a device of the people behind LIDs. Outlives a connection. */
export type DeviceContacts = {
  /** Resolves when it is stored, at once for what was stored today. Throws OwnershipLost. */
  note(learnt: Learnt): Promise<void>
  /** Calls when the number of a LID was stored. Returns the function that ends the subscription. */
  onNumber(listener: NumberListener): () => void
}

/** Of a LID, and under its number the LID that has it. */
export type NotedContact =
  | { number: string | null; username: string | null; day: number }
  | { lidJid: string }

const dayMs = 86_400_000

/** What `noted` has dropped is merely stored again. */
export function makeDeviceContacts(
  { id: deviceId, lease }: { id: number; lease: Lease },
  noted: Scope<NotedContact>,
  store: (learnt: LearntContact) => Promise<OwnershipLost | undefined>,
): DeviceContacts {
  const listeners = new Set<NumberListener>()

  function find(lidJid: string) {
    const known = noted.get(lidJid)?.value
    if (!known || !('number' in known)) return undefined
    const holder = known.number === null ? undefined : noted.get(known.number)?.value
    // The number may have been told for another LID since.
    const isHeld = known.number === null || (holder && 'lidJid' in holder && holder.lidJid === lidJid)
    return isHeld ? known : undefined
  }

  return {
    async note({ lidJid, number, username = null }) {
      const known = find(lidJid)
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
      if (merged.number !== null) noted.set(merged.number, { lidJid })
      if (number !== null && known?.number !== number)
        for (const listener of [...listeners]) listener(lidJid, number)
    },
    onNumber(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Of a history, which has all contacts of an account: those of other devices are stored between its parts. */
const notedAtOnceMax = 100

/** Notes the numbers of LIDs before Baileys remembers them: it stores a pair that it knows no second time. */
export function noteNumbers(keys: SignalKeyStore, note: DeviceContacts['note']): SignalKeyStore {
  return {
    get: keys.get,
    async set(data) {
      const pairs = numbersOf(data['lid-mapping'] ?? {})
      for (let from = 0; from < pairs.length; from += notedAtOnceMax) {
        const part = pairs.slice(from, from + notedAtOnceMax)
        await Promise.all(part.map(([number, lid]) => note({ lidJid: lidKey(lid), number })))
      }
      await keys.set(data)
    },
  }
}
