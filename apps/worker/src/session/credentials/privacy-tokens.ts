import { tokenHolderType } from '@wagate/db/queries/credentials/device-auth'
import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import { lidKey, phoneJid } from '@wagate/shared/contact-key'
import { isLidUser, isPnUser, jidDecode, type SignalDataSet, type SignalKeyStore } from 'baileys'
import { numbersOf } from './lid-mappings.ts'

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
function isHeldToken(stored: Stored | null | undefined): stored is Stored {
  return (stored?.token?.length ?? 0) > 0
}

function issuedAt({ timestamp }: Stored): number {
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
    const pairs = numbersOf(mapping).map(([number, lid]) => [phoneJid(number), lidKey(lid)] as const)
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

/** Our own values beside Baileys' keys. */
type Own = {
  readOwn(type: string, ids: string[]): Map<string, unknown> | Promise<Map<string, unknown>>
  writeOwn(type: string, values: Map<string, unknown>): Promise<void>
}

/**
 * Stores the keys (numbers, or LIDs without a known number) of the contacts that have given this device a privacy token:
 * WhatsApp accepts messages to them during a restriction, and the tokens themselves are encrypted and stored by LID, so SQL
 * cannot find them by number. A token and the number of its LID may arrive together, in either order.
 */
export function noteTokenHolders(keys: SignalKeyStore, { readOwn, writeOwn }: Own): SignalKeyStore {
  const oneAtATime = makeOneAtATime()

  /** `lids`: of those whose number is known now. */
  async function note(holders: Map<string, number>, lids: string[]): Promise<void> {
    const stored = await readOwn(tokenHolderType, [...holders.keys(), ...lids])
    const newer = [...holders].filter(([number, at]) => Number(stored.get(number) ?? 0) < at)
    const former = lids.filter((lid) => stored.has(lid)).map((lid) => [lid, null] as const)
    if (newer.length + former.length > 0) await writeOwn(tokenHolderType, new Map([...newer, ...former]))
  }

  async function noteHolders({ tctoken = {}, 'lid-mapping': mapping = {} }: SignalDataSet): Promise<void> {
    const holders = new Map<string, number>()
    for (const [jid, token] of Object.entries(tctoken)) {
      const number = isHeldToken(token) && (await keyOf(keys, jid))
      if (number) holders.set(number, issuedAt(token))
    }
    const numbers = numbersOf(mapping)
    const lids = numbers.map(([, lid]) => lidKey(lid))
    const tokens = lids.length > 0 ? await keys.get('tctoken', lids) : {}
    for (const [number, lid] of numbers) {
      const token = tokens[lidKey(lid)]
      if (isHeldToken(token)) holders.set(number, issuedAt(token))
    }
    if (holders.size > 0) await note(holders, lids)
  }

  return {
    get: keys.get,
    async set(data) {
      await keys.set(data)
      if (data.tctoken || data['lid-mapping']) await oneAtATime(() => noteHolders(data))
    },
  }
}

async function keyOf(keys: SignalKeyStore, jid: string): Promise<string | undefined> {
  const user = jidDecode(jid)?.user
  if (!user || isPnUser(jid)) return user
  const id = `${user}_reverse`
  return isLidUser(jid) ? ((await keys.get('lid-mapping', [id]))[id] ?? lidKey(user)) : undefined
}

const type = 'tctoken'
const indexId = '__index'

/**
 * Baileys keeps a list of all contacts with a privacy token, to find those that have expired, and rewrites it with the
 * first message to every contact: with 10,000 contacts that is 300 KiB each time. It is not stored here. Housekeeping
 * deletes tokens that have not been used for a long time.
 */
export function withoutTokenIndex(keys: SignalKeyStore): SignalKeyStore {
  return {
    get: (asked, ids) => keys.get(asked, asked === type ? ids.filter((id) => id !== indexId) : ids),
    async set(data) {
      const { [type]: tokens, ...others } = data
      const kept = Object.entries(tokens ?? {}).filter(([id]) => id !== indexId)
      const left = kept.length > 0 ? { ...others, [type]: Object.fromEntries(kept) } : others
      if (Object.keys(left).length > 0) await keys.set(left)
    },
  }
}
