import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import type { SignalDataSet, SignalKeyStore } from 'baileys'

/** A contact's privacy token (`tctoken`) as Baileys stores it, in seconds. */
type Stored = { token?: Uint8Array; timestamp?: string | number; senderTimestamp?: number }
type Tokens = { [jid: string]: Stored | null }

const bucketSeconds = 7 * 86_400
const bucketsValid = 4

/** As WhatsApp Web counts: a token is valid in the bucket in which it was issued, and in the three that follow. */
export function isUsableToken(stored: Stored | null | undefined, nowMs = Date.now()): stored is Stored {
  const bucketNow = Math.floor(nowMs / 1000 / bucketSeconds)
  return isHeldToken(stored) && Math.floor(issuedAt(stored) / bucketSeconds) > bucketNow - bucketsValid
}

/** False for the records that only say when this device has given its own token. */
export function isHeldToken(stored: Stored | null | undefined): stored is Stored {
  return (stored?.token?.length ?? 0) > 0
}

export function issuedAt({ timestamp }: Stored): number {
  return Number(timestamp ?? 0)
}

/**
 * Baileys reads a token, waits, and writes it back with the time at which it gave its own, or with the token that it
 * found elsewhere. A token that came meanwhile would be lost. Here a token is replaced only by a newer one, unless it has
 * expired. A token that was stored by a phone number follows the contact to its LID as soon as that is known.
 */
export function keepNewestTokens(keys: SignalKeyStore): SignalKeyStore {
  const oneAtATime = makeOneAtATime()

  async function setTokens({ tctoken: given = {}, ...others }: SignalDataSet): Promise<void> {
    const stored: Tokens = await keys.get('tctoken', Object.keys(given))
    const merged = Object.entries(given as Tokens).flatMap(([jid, token]) => {
      const newest = newestOf(stored[jid], token)
      return newest === stored[jid] ? [] : [[jid, newest]]
    })
    const left = merged.length > 0 ? { ...others, tctoken: Object.fromEntries(merged) } : others
    if (Object.keys(left).length > 0) await keys.set(left)
  }

  async function followMappings(mapping: { [id: string]: string | null }): Promise<void> {
    const pairs = numbersOf(mapping).map(
      ([number, lid]) => [`${number}@s.whatsapp.net`, `${lid}@lid`] as const,
    )
    if (pairs.length === 0) return
    const stored: Tokens = await keys.get('tctoken', pairs.flat())
    const moved = pairs.flatMap(([pn, lid]) => {
      const token = stored[pn]
      return token ? [[lid, newestOf(stored[lid], token)] as const, [pn, null] as const] : []
    })
    if (moved.length > 0) await keys.set({ tctoken: Object.fromEntries(moved) as never })
  }

  return {
    get: keys.get,
    async set(data) {
      const { 'lid-mapping': mapping } = data
      await (data.tctoken ? oneAtATime(() => setTokens(data)) : keys.set(data))
      if (mapping) await oneAtATime(() => followMappings(mapping))
    },
  }
}

/** The first one when the second says nothing new. */
function newestOf(stored: Stored | null | undefined, given: Stored | null): Stored | null | undefined {
  if (!stored) return given
  const isNewer = isHeldToken(given) && issuedAt(given) > issuedAt(stored)
  const held = isUsableToken(stored) && !isNewer ? stored : given
  if (!given) return held
  const senderTimestamp = Math.max(stored.senderTimestamp ?? 0, given.senderTimestamp ?? 0)
  if (held === stored && senderTimestamp === (stored.senderTimestamp ?? 0)) return stored
  return { ...held, ...(senderTimestamp > 0 && { senderTimestamp }) }
}

/** Each mapping is stored in both directions. */
export function numbersOf(mapping: { [id: string]: string | null }): [number: string, lid: string][] {
  return Object.entries(mapping).flatMap(([id, lid]) => (lid && !id.endsWith('_reverse') ? [[id, lid]] : []))
}
