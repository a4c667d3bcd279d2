import type { BinaryNode, WASocket } from 'baileys'
import type { Receipt } from './receipts.ts'

/** What WhatsApp says about a message that this device sent. `code` is the server's error, such as 463. */
export type Outcome =
  | { kind: 'acknowledged' }
  | { kind: 'refused'; code: string }
  | ({ kind: 'delivered' | 'read' } & Pick<Receipt, 'saidBy'>)

/** Anybody can send a receipt for any message, so it must come from the recipient. Other outcomes come from the server. */
export function isBelievable(outcome: Outcome, recipient: string): boolean {
  if (!('saidBy' in outcome)) return true
  return [outcome.saidBy.jid, outcome.saidBy.otherJid].includes(recipient)
}

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
