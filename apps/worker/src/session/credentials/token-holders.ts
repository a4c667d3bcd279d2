import { tokenHolderType } from '@wagate/db/queries/credentials/device-auth'
import { isLidUser, isPnUser, jidDecode, type SignalKeyStore } from 'baileys'
import { isHeldToken, issuedAt, numbersOf } from './privacy-tokens.ts'

/** Our own values beside Baileys' keys. */
type Own = {
  readOwn(type: string, ids: string[]): Map<string, unknown> | Promise<Map<string, unknown>>
  writeOwn(type: string, values: Map<string, unknown>): Promise<void>
}

/**
 * Stores the numbers of the contacts that have given this device a privacy token: WhatsApp accepts messages to them during
 * a restriction, and the tokens themselves are encrypted and stored by LID, so SQL cannot find them by number.
 */
export function noteTokenHolders(keys: SignalKeyStore, { readOwn, writeOwn }: Own): SignalKeyStore {
  async function note(holders: Map<string, number>): Promise<void> {
    const stored = await readOwn(tokenHolderType, [...holders.keys()])
    const newer = [...holders].filter(([number, at]) => Number(stored.get(number) ?? 0) < at)
    if (newer.length > 0) await writeOwn(tokenHolderType, new Map(newer))
  }

  return {
    get: keys.get,
    async set(data) {
      await keys.set(data)
      const { tctoken, 'lid-mapping': mapping } = data
      const holders = new Map<string, number>()
      for (const [jid, token] of Object.entries(tctoken ?? {})) {
        const number = isHeldToken(token) && (await numberOf(keys, jid))
        if (number) holders.set(number, issuedAt(token))
      }
      // A token may arrive before the number of its LID is known.
      const numbers = numbersOf(mapping ?? {})
      const lids = numbers.map(([, lid]) => `${lid}@lid`)
      const tokens = lids.length > 0 ? await keys.get('tctoken', lids) : {}
      for (const [number, lid] of numbers) {
        const token = tokens[`${lid}@lid`]
        if (isHeldToken(token)) holders.set(number, issuedAt(token))
      }
      if (holders.size > 0) await note(holders)
    },
  }
}

async function numberOf(keys: SignalKeyStore, jid: string): Promise<string | undefined> {
  const user = jidDecode(jid)?.user
  if (!user || isPnUser(jid)) return user
  const id = `${user}_reverse`
  return isLidUser(jid) ? (await keys.get('lid-mapping', [id]))[id] : undefined
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
