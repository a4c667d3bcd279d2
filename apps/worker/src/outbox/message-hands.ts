import { laneKey, laneOf, type Turn } from './recipient-lanes.ts'

/**
 * What this worker is doing for a message of its waiting list. Postgres knows the same message as `queued` or `sending`
 * (packages/db/src/message-states.ts): it is `claimed` here once that says `sending`.
 *
 *     waiting ─ prepare ─▶ preparing ─ prepared ─▶ waiting          its media is fetched and uploaded
 *     waiting ─ claim ─▶ claiming ─ claimed ─▶ claimed ─ write ─▶ written
 *     written ─ acknowledge ─▶ acknowledged                         WhatsApp has it, and that is being stored
 *     written ─ refuse ─▶ refused                                   what follows is being found out, and stored
 *     any but waiting and acknowledged ─ retry ─▶ waiting           it stays in the list, and is tried again
 *     waiting ─ acknowledge ─▶ acknowledged                         the answer came after its attempt
 *
 * A message leaves the list, and with that its hand, when its end is stored, or when it is not this worker's to send now.
 *
 * Invariants, which `send-interleavings.test.ts` checks in every order of all steps:
 * - At most one message of a lane is in a state other than `waiting` and `acknowledged`, and at most one message to a person is
 *   beyond `preparing`, whatever its priority. When two lanes become one, because the number of a LID is learnt, each may have
 *   one, and the next waits for both.
 * - Only what is `claimed` is written, and the next one to the same recipient is not claimed before WhatsApp has answered.
 * - What is `acknowledged` is never claimed again.
 */
export type HandState =
  | 'waiting'
  | 'preparing'
  | 'claiming'
  | 'claimed'
  | 'written'
  | 'refused'
  | 'acknowledged'

export const handMoves = {
  prepare: { from: ['waiting'], to: 'preparing' },
  prepared: { from: ['preparing'], to: 'waiting' },
  claim: { from: ['waiting'], to: 'claiming' },
  claimed: { from: ['claiming'], to: 'claimed' },
  // Once for each device of the recipient.
  write: { from: ['claimed', 'written'], to: 'written' },
  refuse: { from: ['written'], to: 'refused' },
  acknowledge: { from: ['waiting', 'written'], to: 'acknowledged' },
  retry: { from: ['preparing', 'claiming', 'claimed', 'written', 'refused'], to: 'waiting' },
} as const satisfies Record<string, { from: readonly HandState[]; to: HandState }>
export type HandMove = keyof typeof handMoves

/** The state after a move. Undefined: it is not possible. */
export function moveHand(state: HandState, move: HandMove): HandState | undefined {
  const { from, to }: { from: readonly HandState[]; to: HandState } = handMoves[move]
  return from.includes(state) ? to : undefined
}

export type Work = 'send' | 'prepare'

const workOf: Record<HandState, Work | undefined> = {
  waiting: undefined,
  preparing: 'prepare',
  claiming: 'send',
  claimed: 'send',
  written: 'send',
  refused: 'send',
  acknowledged: undefined,
}

/** The hands of one outbox. A message that is not mentioned is `waiting`. */
export type Hands = {
  /** Throws when the move is not possible. */
  move(turn: Turn, move: HandMove): void
  isAcknowledged(message: { id: string }): boolean
  isWorkedOn(message: { id: string }): boolean
  /** For how long its media has been prepared by now. Undefined while that is not done. */
  preparingMs(message: { id: string }): number | undefined
  /** What is being done for a message to this person. Of those that are prepared, only this priority counts. */
  workFor(person: string, priority: number): Work | undefined
  /** To be called when the numbers of messages have become known, which changes their lanes. */
  refresh(): void
  /** The messages for which this is being done. */
  turnsOf(work: Work): Turn[]
  /** It has left the list. */
  drop(message: { id: string }): void
}

export function makeHands(
  given: Iterable<{ turn: Turn; state: HandState }> = [],
  nowMs: () => number = () => performance.now(),
): Hands {
  /** Without those that wait. */
  const hands = new Map<string, { turn: Turn; state: HandState; sinceMs: number }>()
  /** A plan asks for each person and lane. */
  const sending = new Set<string>()
  const preparing = new Set<string>()
  const stateOf = (id: string): HandState => hands.get(id)?.state ?? 'waiting'

  function note(turn: Turn, work: Work): void {
    if (work === 'send') sending.add(laneOf(turn))
    else preparing.add(laneKey(laneOf(turn), turn.message.priority))
  }

  function set(turn: Turn, before: HandState, state: HandState): void {
    const { message } = turn
    if (state === 'waiting') hands.delete(message.id)
    else hands.set(message.id, { turn, state, sinceMs: nowMs() })
    const work = workOf[state]
    if (work) note(turn, work)
    else if (workOf[before]) refresh()
  }

  function refresh(): void {
    sending.clear()
    preparing.clear()
    for (const { turn, state } of hands.values()) {
      const work = workOf[state]
      if (work) note(turn, work)
    }
  }

  for (const { turn, state } of given) set(turn, 'waiting', state)

  return {
    move(turn, move) {
      const { id } = turn.message
      const before = stateOf(id)
      const state = moveHand(before, move)
      if (state === undefined) throw new Error(`A message that is ${before} cannot ${move}`)
      set(turn, before, state)
    },
    isAcknowledged: ({ id }) => stateOf(id) === 'acknowledged',
    isWorkedOn: ({ id }) => workOf[stateOf(id)] !== undefined,
    preparingMs({ id }) {
      const hand = hands.get(id)
      return hand?.state === 'preparing' ? nowMs() - hand.sinceMs : undefined
    },
    workFor(person, priority) {
      if (sending.has(person)) return 'send'
      return preparing.has(laneKey(person, priority)) ? 'prepare' : undefined
    },
    refresh,
    turnsOf: (work) =>
      [...hands.values()].filter(({ state }) => workOf[state] === work).map(({ turn }) => turn),
    drop({ id }) {
      const hand = hands.get(id)
      if (hand) set(hand.turn, hand.state, 'waiting')
    },
  }
}
