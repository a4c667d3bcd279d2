import { type BinaryNode, decodeMessageNode, jidDecode, type WAMessageKey } from 'baileys'
import type { WrittenOn } from './received-source.ts'

/** A `message` stanza of WhatsApp's server, and how much of it was decrypted. */
export type MessageStanza = {
  node: BinaryNode
  key: WAMessageKey
  /** From the account's own phone, not from another device of the account. */
  isFromOwnPhone: boolean
  /** From the account's phone to this device, such as its history: not a message to a person. */
  isPeer: boolean
  /** The sender says that a person must see nothing of it if it cannot be read, as with a reaction. */
  isHidden: boolean
  /** Where the account has written it, if it has. */
  writtenOn: WrittenOn
  ciphertexts: Uint8Array[]
  decrypted: number
}

/** Undefined for stanzas that Baileys does not treat as messages either. */
export function readMessageStanza(
  node: BinaryNode,
  me: { id: string; lid?: string | undefined },
): MessageStanza | undefined {
  const children = Array.isArray(node.content) ? node.content : []
  const ciphertexts = children.flatMap(({ tag, content }) =>
    tag === 'enc' && content instanceof Uint8Array ? [content] : [],
  )
  const isHidden = children.some(({ tag, attrs }) => tag === 'enc' && attrs['decrypt-fail'] === 'hide')
  try {
    const { fullMessage, author } = decodeMessageNode(node, me.id, me.lid ?? '')
    return {
      node,
      key: fullMessage.key,
      isFromOwnPhone: fullMessage.key.fromMe === true && !jidDecode(author)?.device,
      isPeer: node.attrs.category === 'peer',
      isHidden,
      writtenOn: jidDecode(author)?.device ? 'companion' : 'phone',
      ciphertexts,
      decrypted: 0,
    }
  } catch {
    return undefined
  }
}
