import { type MessageMove, type MessageState, messageMoves, moveMessage } from '@wagate/db/message-states'
import { type HandMove, type HandState, makeHands, moveHand } from '../src/outbox/message-hands.ts'
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

/** What an owner does for a message: its hand in message-hands.ts, if it is in the list. `done`: it has left that for good. */
export type Hand = { is: 'unknown' | 'done' | HandState; isRetry: boolean }

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
  const inList = messages.flatMap((message, index) => {
    const { is, isRetry } = hands[index] as Hand
    return is === 'unknown' || is === 'done' ? [] : { turn: { message, recipient }, state: is, isRetry }
  })
  const { isAcknowledged, workFor } = makeHands(inList)
  const facts: LaneFacts = {
    recipientOf: () => recipient,
    isAcknowledged,
    workFor,
    waitMs: () => 0,
    paceMs: () => 0,
    typingMs: () => 0,
    mayBePassed: () => false,
    isRetry: ({ id }) => inList.some(({ turn, isRetry }) => turn.message.id === id && isRetry),
  }
  const list = inList.map(({ turn }) => turn.message)
  return planLanes(list, facts).ready.map(({ message }) => messages.indexOf(message))
}

export const isWaiting = (world: World, message: number) =>
  messageMoves.claim.from.some((state) => state === world.states[message])

export function move(world: World, message: number, name: MessageMove): void {
  world.states[message] = moveMessage(world.states[message] as MessageState, name)
}

/** Throws when the worker could not make this move. */
export function moveHandOf({ hands }: Owner, message: number, move: HandMove): void {
  const { is, isRetry } = hands[message] as Hand
  const state = is === 'unknown' || is === 'done' ? undefined : moveHand(is, move)
  if (!state) throw new Error(`A message that is ${is} cannot ${move}`)
  hands[message] = { is: state, isRetry: isRetry || move === 'retry' }
}

/** An answer may also come after its attempt. While the message is worked on, its attempt ends with the answer. */
export function acknowledge(owner: Owner, message: number): void {
  const { is } = owner.hands[message] as Hand
  if (is === 'written' || is === 'waiting') moveHandOf(owner, message, 'acknowledge')
}

export function disconnect(world: World, index: number): void {
  const owner = world.owners[index] as Owner
  owner.isOnline = false
  const isOfOther = (stanza: Stanza) => stanza.owner !== index
  world.wire = world.wire.filter(isOfOther)
  world.answers = world.answers.filter(isOfOther)
  for (const [message, { is }] of owner.hands.entries())
    if (is === 'written') moveHandOf(owner, message, 'retry')
}

/** What is on the wire may still arrive, until WhatsApp ends the connection. */
export function stop(world: World, index: number): void {
  const owner = world.owners[index] as Owner
  owner.isAlive = false
  owner.hands = owner.hands.map(() => ({ is: 'unknown', isRetry: false }))
}
