import type { UnavailableReason } from '@wagate/shared/unavailable'
import { type BinaryNode, getBinaryNodeChild } from 'baileys'

const reasons: { [type: string]: UnavailableReason } = {
  view_once: 'view_once',
  view_once_unavailable_fanout: 'view_once',
  hosted_unavailable_fanout: 'hosted',
  bot_unavailable_fanout: 'bot',
}

/** Why WhatsApp keeps the content of a message from companions. Undefined for a message that has its content. */
export function unavailableReasonOf(node: BinaryNode): UnavailableReason | undefined {
  const given = getBinaryNodeChild(node, 'unavailable')
  if (!given || getBinaryNodeChild(node, 'enc')) return undefined
  return reasons[given.attrs.type ?? ''] ?? 'withheld'
}

/** Senders answer no further request. */
const triesMax = 5

/** How often the sender of a stanza was asked for it. */
export function triesOf(node: BinaryNode): number {
  return Number(getBinaryNodeChild(node, 'enc')?.attrs.count ?? 0)
}

export const isLastTry = (node: BinaryNode) => triesOf(node) >= triesMax
