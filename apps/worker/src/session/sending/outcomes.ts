import type { BinaryNode, WASocket } from 'baileys'
import type { Receipt } from '../receiving/receipts.ts'

/** The addresses of the recipient, phone number and LID, are no longer those that this device knows. */
type AddressNews = { isMappingStale?: true }

/** `deviceHash`: of the devices that the server knows. It differs from ours when the message missed some. */
export type Acknowledgement = { kind: 'acknowledged'; deviceHash?: string } & AddressNews
/** `code` is the server's error, such as 463. */
export type Refusal = { kind: 'refused'; code: string } & AddressNews

/** What WhatsApp says about a message that this device sent. */
export type Outcome = Acknowledgement | Refusal | Pick<Receipt, 'kind' | 'saidBy'>

/** Anybody can send a receipt for any message, so it must come from an address of the recipient. Other outcomes come from the server. */
export function isBelievable(outcome: Outcome, addresses: string[]): boolean {
  if (!('saidBy' in outcome)) return true
  const { jid, otherJid } = outcome.saidBy
  return addresses.some((address) => address === jid || address === otherJid)
}

/** Listens on the stanzas themselves: Baileys raises no event for the server's acknowledgement. */
export function onAcknowledgements(sock: WASocket, handle: (waId: string, outcome: Outcome) => void): void {
  sock.ws.on('CB:ack,class:message', (node: BinaryNode) => {
    const { id } = node.attrs
    if (id) handle(id, readAcknowledgement(node.attrs))
  })
}

export function readAcknowledgement({
  error,
  phash,
  refresh_lid,
}: BinaryNode['attrs']): Acknowledgement | Refusal {
  const news: AddressNews = refresh_lid === 'true' ? { isMappingStale: true } : {}
  if (error) return { kind: 'refused', code: error, ...news }
  return { kind: 'acknowledged', ...(phash && { deviceHash: phash }), ...news }
}

type OutcomeListener = (waId: string, outcome: Outcome) => void

/**
 * What WhatsApp says about the messages that a device sent. One feed serves all connections of the device: a receipt is
 * published once it is stored, and by then the connection that brought it may have been replaced by the next one.
 */
export type OutcomeFeed = {
  publish: OutcomeListener
  /** Returns the function that ends the subscription. Listeners are called in the order of their subscriptions. */
  subscribe(listener: OutcomeListener): () => void
}

export function makeOutcomeFeed(): OutcomeFeed {
  const listeners = new Set<OutcomeListener>()
  return {
    publish(waId, outcome) {
      for (const listener of [...listeners]) listener(waId, outcome)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
