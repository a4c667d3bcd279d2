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
    const at = receiptTime(node.attrs)
    for (const waId of receiptIds(node)) handle(waId, { kind, at })
  })
}

/** Undefined for what says nothing about the recipient: retry requests, and receipts of the own other devices. */
function receiptKind({ type, recipient }: BinaryNode['attrs']): 'delivered' | 'read' | undefined {
  if (recipient) return undefined
  if (type === undefined || type === '' || type === 'inactive') return 'delivered'
  return type === 'read' || type === 'played' ? 'read' : undefined
}

/** WhatsApp tells whole seconds: the end of that second, so that no receipt seems older than its message. */
function receiptTime({ t }: BinaryNode['attrs']): Date {
  const seconds = Number(t)
  return new Date(seconds > 0 ? Math.min(Date.now(), seconds * 1000 + 999) : Date.now())
}

function receiptIds(node: BinaryNode): string[] {
  const first = Array.isArray(node.content) ? node.content[0] : undefined
  const items = first ? getBinaryNodeChildren(first, 'item') : []
  return [node.attrs.id, ...items.map(({ attrs }) => attrs.id)].filter((id) => id !== undefined)
}
