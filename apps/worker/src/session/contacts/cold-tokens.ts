import { createHmac } from 'node:crypto'
import {
  type BinaryNode,
  isLidUser,
  isPnUser,
  jidDecode,
  type SignalDataTypeMap,
  type SignalKeyStore,
  type WASocket,
} from 'baileys'
import type { AccountSalt } from '../credentials/account-salt.ts'
import { isUsableToken } from '../credentials/privacy-tokens.ts'

export type ColdTokens = {
  /** The key store for Baileys. */
  keys: SignalKeyStore
  /** From now on, messages through this socket carry the tokens. */
  attachTo(sock: WASocket): void
}

/** A message that is being sent, and the nodes that Baileys will add to it. */
type Sending = { node: BinaryNode; nodes: BinaryNode[] }

/**
 * A message to a contact that has given no privacy token (`tctoken`) carries a `cstoken`: it shows that a client of the
 * account sends it. Never both: which one it is follows from what Baileys reads of the token right before it sends.
 */
export function makeColdTokens(keys: SignalKeyStore, salt: Pick<AccountSalt, 'find'>): ColdTokens {
  const sendings = new Map<string, Sending>()

  async function lidOf(jid: string): Promise<string | undefined> {
    const user = jidDecode(jid)?.user
    if (!user) return undefined
    if (isLidUser(jid)) return `${user}@lid`
    const lid = isPnUser(jid) ? (await keys.get('lid-mapping', [user]))[user] : undefined
    return lid ? `${lid}@lid` : undefined
  }

  async function prepare(jid: string): Promise<(Sending & { lid: string }) | undefined> {
    const [secret, lid] = [await salt.find(), await lidOf(jid)]
    if (!secret || !lid) return undefined
    const content = createHmac('sha256', secret).update(lid).digest()
    return { lid, node: { tag: 'cstoken', attrs: {}, content }, nodes: [] }
  }

  async function getTokens<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
    const found = await keys.get(type, ids)
    for (const id of ids) {
      const sending = sendings.get(id)
      sending?.nodes.splice(
        0,
        sending.nodes.length,
        ...(isUsableToken(found[id] as never) ? [] : [sending.node]),
      )
    }
    return found
  }

  return {
    keys: {
      get: (type, ids) => (type === 'tctoken' ? getTokens(type, ids) : keys.get(type, ids)),
      set: keys.set,
    },
    attachTo(sock) {
      const { relayMessage } = sock
      sock.relayMessage = async (jid, message, options) => {
        const sending = await prepare(jid)
        if (!sending) return relayMessage(jid, message, options)
        const nodes = sending.nodes
        sendings.set(sending.lid, sending)
        try {
          return await relayMessage(jid, message, { ...options, additionalNodes: nodes })
        } finally {
          if (sendings.get(sending.lid) === sending) sendings.delete(sending.lid)
        }
      }
    },
  }
}
