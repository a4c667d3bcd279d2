import { type BinaryNode, getBinaryNodeChildren, type WASocket } from 'baileys'

/** What WhatsApp says of messages that this device sent. `code` is the server's error, such as 463. */
export type Outcome =
  | { kind: 'acknowledged' }
  | { kind: 'refused'; code: string }
  | { kind: 'delivered' | 'read'; at: Date }

/**
 * Listens on the stanzas themselves: Baileys raises no event for the server's acknowledgement, and merges
 * successive receipts of one message.
 */
export function onOutcomes(sock: WASocket, handle: (waId: string, outcome: Outcome) => void): void {
  sock.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
    if (!attrs.id) return
    handle(attrs.id, attrs.error ? { kind: 'refused', code: attrs.error } : { kind: 'acknowledged' })
  })
  sock.ws.on('CB:receipt', (node: BinaryNode) => {
    const kind = receiptKind(node.attrs)
    if (!kind) return
    const seconds = Number(node.attrs.t)
    const at = Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1000) : new Date()
    for (const waId of receiptIds(node)) handle(waId, { kind, at })
  })
}

/** Undefined for what says nothing about the recipient: retry requests, and receipts of the own other devices. */
function receiptKind({ type, recipient }: BinaryNode['attrs']): 'delivered' | 'read' | undefined {
  if (recipient) return undefined
  if (type === undefined || type === '' || type === 'inactive') return 'delivered'
  return type === 'read' || type === 'played' ? 'read' : undefined
}

function receiptIds(node: BinaryNode): string[] {
  const first = Array.isArray(node.content) ? node.content[0] : undefined
  const items = first ? getBinaryNodeChildren(first, 'item') : []
  return [node.attrs.id, ...items.map(({ attrs }) => attrs.id)].filter((id) => id !== undefined)
}
