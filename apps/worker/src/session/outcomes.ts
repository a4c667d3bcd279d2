import type { BinaryNode, WASocket } from 'baileys'

/** What WhatsApp says of messages that this device sent. `code` is the server's error, such as 463. */
export type Outcome =
  | { kind: 'acknowledged' }
  | { kind: 'refused'; code: string }
  | { kind: 'delivered' | 'read'; at: Date }

/** Listens on the stanzas themselves: Baileys raises no event for the server's acknowledgement. */
export function onAcknowledgements(
  sock: WASocket,
  handle: (waId: string, outcome: Outcome, node: BinaryNode) => void,
): void {
  sock.ws.on('CB:ack,class:message', (node: BinaryNode) => {
    const { id, error } = node.attrs
    if (id) handle(id, error ? { kind: 'refused', code: error } : { kind: 'acknowledged' }, node)
  })
}
