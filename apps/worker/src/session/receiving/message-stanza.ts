import { type BinaryNode, decodeMessageNode, jidDecode, type WAMessageKey } from 'baileys'

/** A `message` stanza of WhatsApp's server, and how much of it was decrypted. */
export type MessageStanza = {
  node: BinaryNode
  key: WAMessageKey
  /** From the account's own phone, not from another device of the account. */
  isFromOwnPhone: boolean
  /** From the account's phone to this device, such as its history: not a message to a person. */
  isPeer: boolean
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
  try {
    const { fullMessage, author } = decodeMessageNode(node, me.id, me.lid ?? '')
    return {
      node,
      key: fullMessage.key,
      isFromOwnPhone: fullMessage.key.fromMe === true && !jidDecode(author)?.device,
      isPeer: node.attrs.category === 'peer',
      ciphertexts,
      decrypted: 0,
    }
  } catch {
    return undefined
  }
}
