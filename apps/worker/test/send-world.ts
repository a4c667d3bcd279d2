import { type MessageMove, type MessageState, messageMoves, moveMessage } from '@wagate/db/message-states'
import { type LaneFacts, planLanes } from '../src/outbox/recipient-lanes.ts'
import { makeMessage } from './waiting-rows.ts'

/**
 * A sender with two messages to one recipient, its owners, Postgres, WhatsApp and a caller, small enough to visit every state
 * that they can reach together. What may be done next is said by the functions that the gateway runs: `planLanes` in a worker,
 * and the moves of `message-states.ts` in the statements.
 */
export type World = {
  /** In Postgres. */
  states: MessageState[]
  /** The epoch of the lease. Statements of other owners are refused. */
  epoch: number
  owners: Owner[]
  /** Stanzas that are written to a connection and have not arrived. */
  wire: Stanza[]
  /** Messages that the server has taken, in the order in which it took them first. Phones show them once. */
  arrived: number[]
  /** Answers of the server to an owner. */
  answers: (Stanza & { kind: 'acknowledged' | 'refused' })[]
  /** Receipts of the recipient that WhatsApp keeps until an owner has stored them. */
  receipts: number[]
  /** The caller was told so. */
  canceled: number[]
  /** What may still happen once. */
  callerCancels: number[]
  timeIsOver: number[]
  takeovers: number
  /** Of answers, stanzas, connections and owners. */
  faults: number
}

export type Stanza = { owner: number; message: number }

export type Owner = {
  epoch: number
  isAlive: boolean
  isOnline: boolean
  hands: Hand[]
}

/**
 * What an owner knows of a message. `claiming`: its statement is on the way. `written`: it is on the wire. `acknowledged` and
 * `refused`: that is still to be recorded.
 */
export type Hand = {
  is: 'unknown' | 'listed' | 'claiming' | 'claimed' | 'written' | 'acknowledged' | 'refused' | 'done'
  isRetry: boolean
}

const recipient = 'recipient'
const messages = [makeMessage(1, '1'), makeMessage(2, '1')]

export function beginWorld(given: Partial<World>): World {
  return {
    states: ['queued', 'queued'],
    epoch: 1,
    owners: [newOwner(1, true)],
    wire: [],
    arrived: [],
    answers: [],
    receipts: [],
    canceled: [],
    callerCancels: [],
    timeIsOver: [],
    takeovers: 0,
    faults: 0,
    ...given,
  }
}

/** `structuredClone` takes ten times as long. */
export const copy = (world: World): World => ({
  ...world,
  states: [...world.states],
  owners: world.owners.map((owner) => ({ ...owner, hands: owner.hands.map((hand) => ({ ...hand })) })),
  wire: [...world.wire],
  arrived: [...world.arrived],
  answers: [...world.answers],
  receipts: [...world.receipts],
  canceled: [...world.canceled],
})

export const newOwner = (epoch: number, isOnline: boolean): Owner => ({
  epoch,
  isAlive: true,
  isOnline,
  hands: messages.map(() => ({ is: 'unknown', isRetry: false })),
})

/** The messages that the worker would send now. */
export function readyOf({ hands }: Owner): number[] {
  const isIn =
    (...kinds: Hand['is'][]) =>
    (id: string) =>
      kinds.includes(handOf(id).is)
  const handOf = (id: string) => hands[messages.findIndex((message) => message.id === id)] as Hand
  const isSending = hands.some(({ is }) => ['claiming', 'claimed', 'written', 'refused'].includes(is))
  const facts: LaneFacts = {
    recipientOf: () => recipient,
    isAcknowledged: ({ id }) => isIn('acknowledged')(id),
    workFor: () => (isSending ? 'send' : undefined),
    waitMs: () => 0,
    paceMs: () => 0,
    typingMs: () => 0,
    isRetry: ({ id }) => handOf(id).isRetry,
  }
  const list = messages.filter(({ id }) => !isIn('unknown', 'done')(id))
  return planLanes(list, facts).ready.map(({ message }) => messages.indexOf(message))
}

export const isWaiting = (world: World, message: number) =>
  messageMoves.claim.from.some((state) => state === world.states[message])

export function move(world: World, message: number, name: MessageMove): void {
  world.states[message] = moveMessage(world.states[message] as MessageState, name)
}

export function set({ hands }: Owner, message: number, is: Hand['is']): void {
  hands[message] = { is, isRetry: false }
}

/** An answer may also come after its attempt. */
export function acknowledge(owner: Owner, message: number): void {
  const { is } = owner.hands[message] as Hand
  if (is === 'written' || is === 'listed') set(owner, message, 'acknowledged')
}

export function disconnect(world: World, index: number): void {
  const owner = world.owners[index] as Owner
  owner.isOnline = false
  const isOfOther = (stanza: Stanza) => stanza.owner !== index
  world.wire = world.wire.filter(isOfOther)
  world.answers = world.answers.filter(isOfOther)
  for (const hand of owner.hands)
    if (hand.is === 'written') Object.assign(hand, { is: 'listed', isRetry: true })
}

/** What is on the wire may still arrive, until WhatsApp ends the connection. */
export function stop(world: World, index: number): void {
  const owner = world.owners[index] as Owner
  owner.isAlive = false
  owner.hands = owner.hands.map(() => ({ is: 'unknown', isRetry: false }))
}
