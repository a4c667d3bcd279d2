import type { MessageErrorCode } from '@wagate/shared/message-errors'
import type { MessageStatus } from '@wagate/shared/statuses'

/**
 * The states of a message that the gateway sends, and all that moves it from one to another. Every statement that changes a
 * status takes its condition from here, and docs/architecture.md shows it as a diagram.
 *
 * - `queued`: it waits. A scheduled message is queued as well, and due later.
 * - `sending`: its owner has claimed it. From now on it may have left, so it can no longer be canceled. It stays so until an
 *   answer of WhatsApp is recorded, however often it is sent, and by which owner.
 * - `sent`, `delivered`, `read`: the server of WhatsApp has it, the phone, the person.
 * - `failed`: WhatsApp or the gateway has refused it for good. Only the recipient knows better.
 * - `swept`: it has failed because its time was over or its sender is no longer linked. Nobody asked whether it was on its way,
 *   so an acknowledgement counts. In Postgres it is `failed`, with one of the codes below.
 * - `canceled`: it has never left, and never will.
 */
const messageStates = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'swept',
  'canceled',
] as const
export type MessageState = (typeof messageStates)[number]

type Move = {
  by: 'caller' | 'owner' | 'WhatsApp' | 'recipient'
  from: readonly MessageState[]
  to: MessageState
  /** States that already contain what the move says. It changes nothing there, and is not refused. */
  within?: readonly MessageState[]
}

export const messageMoves = {
  cancel: { by: 'caller', from: ['queued'], to: 'canceled' },
  claim: { by: 'owner', from: ['queued', 'sending'], to: 'sending' },
  fail: { by: 'owner', from: ['queued', 'sending'], to: 'failed' },
  sweep: { by: 'owner', from: ['queued', 'sending'], to: 'swept' },
  // The time that its caller has given it is over. What may have left does not expire.
  expire: { by: 'owner', from: ['queued'], to: 'swept' },
  // A crash of Postgres may have undone the claim.
  acknowledge: { by: 'WhatsApp', from: ['queued', 'sending', 'swept'], to: 'sent', within: ['sent'] },
  deliver: {
    by: 'recipient',
    from: ['queued', 'sending', 'sent', 'failed', 'swept'],
    to: 'delivered',
    within: ['delivered', 'read'],
  },
  read: {
    by: 'recipient',
    from: ['queued', 'sending', 'sent', 'delivered', 'failed', 'swept'],
    to: 'read',
    within: ['read'],
  },
} as const satisfies Record<string, Move>
export type MessageMove = keyof typeof messageMoves

/** The codes of failures that `sweep` makes. */
const sweptCodes = ['message_expired', 'sender_logged_out'] as const satisfies MessageErrorCode[]
export type SweptCode = (typeof sweptCodes)[number]

/** The state after a move; the same where the move has no effect. */
export function moveMessage(state: MessageState, move: MessageMove): MessageState {
  const { from, to }: Move = messageMoves[move]
  return from.includes(state) ? to : state
}

/** Whether a move is refused. */
export function isRefused(state: MessageState, move: MessageMove): boolean {
  const { from, within = [] }: Move = messageMoves[move]
  return !from.includes(state) && !within.includes(state)
}

/** For the condition of a statement: the statuses and codes of the states in which a move is not refused. */
export function acceptedBy(move: MessageMove): { statuses: MessageStatus[]; codes: SweptCode[] } {
  const accepted = messageStates.filter((state) => !isRefused(state, move))
  const statuses = accepted.filter((state) => state !== 'swept')
  return { statuses, codes: accepted.includes('swept') ? [...sweptCodes] : [] }
}
