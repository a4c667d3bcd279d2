import { tokenHolderType } from '@wagate/db/queries/device-auth'
import {
  type BinaryNode,
  isLidUser,
  isPnUser,
  jidDecode,
  jidNormalizedUser,
  type SignalKeyStore,
  type WASocket,
} from 'baileys'

/** Our own values beside Baileys' keys. */
type Own = {
  readOwn(type: string, ids: string[]): Promise<Map<string, unknown>>
  writeOwn(type: string, values: Map<string, unknown>): Promise<void>
}

type Token = { token?: Uint8Array; timestamp?: string | number }

const reverseSuffix = '_reverse'

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
        const number = isHeld(token) && (await numberOf(keys, jid))
        if (number) holders.set(number, issuedAt(token))
      }
      // A token may arrive before the number of its LID is known.
      const numbers = Object.entries(mapping ?? {}).filter(([id, lid]) => lid && !id.endsWith(reverseSuffix))
      const lids = numbers.map(([, lid]) => `${lid}@lid`)
      const tokens = lids.length > 0 ? await keys.get('tctoken', lids) : {}
      for (const [number, lid] of numbers) {
        const token = tokens[`${lid}@lid`]
        if (isHeld(token)) holders.set(number, issuedAt(token))
      }
      if (holders.size > 0) await note(holders)
    },
  }
}

/** False for the records that only say when this device has given its own token. */
function isHeld(token: Token | null | undefined): token is Token {
  return (token?.token?.length ?? 0) > 0
}

function issuedAt({ timestamp }: Token): number {
  return Number(timestamp ?? 0)
}

async function numberOf(keys: SignalKeyStore, jid: string): Promise<string | undefined> {
  const user = jidDecode(jid)?.user
  if (!user || isPnUser(jid)) return user
  const id = `${user}${reverseSuffix}`
  return isLidUser(jid) ? (await keys.get('lid-mapping', [id]))[id] : undefined
}

/** Baileys stores a token by the LID of the contact, and does not keep the number that came with it. */
export function learnAddressesOfTokens({ ws, signalRepository }: WASocket): void {
  ws.on('CB:notification,type:privacy_token', ({ attrs }: BinaryNode) => {
    const [pn, lid] = [jidNormalizedUser(attrs.from), jidNormalizedUser(attrs.sender_lid)]
    if (isPnUser(pn) && isLidUser(lid)) {
      signalRepository.lidMapping.storeLIDPNMappings([{ pn, lid }]).catch(() => undefined)
    }
  })
}
