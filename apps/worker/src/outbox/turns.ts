import { placeOf, priorities } from '@wagate/shared/priorities'
import type { Turn } from './recipient-lanes.ts'

/** `fresh`: not sent before. `suspect`: WhatsApp ended a connection while the message was in flight. */
export type SendKind = 'fresh' | 'retry' | 'suspect'

/** How many messages of a sender may be in flight. */
const inFlightMax = 8
/** The rest stays free for messages that have not failed yet. */
const retriesInFlightMax = 4
const highPriority = placeOf('high')
/** Messages of high priority have as many places of their own besides, so that they need not wait for others that take long. */
const highPlaces = 2

type KindOf = (turn: Turn) => SendKind

/** Whether one of `placesMax` places is free for a turn while these are taken. */
export function hasPlace(turn: Turn, taken: Turn[], placesMax: number): boolean {
  const high = taken.filter(({ message }) => message.priority === highPriority).length
  if (turn.message.priority === highPriority && high < highPlaces) return true
  return taken.length - Math.min(high, highPlaces) < placesMax
}

/** For which turns there is a place in flight. */
export function placesFor(inFlight: Turn[], kindOf: KindOf): (turn: Turn) => boolean {
  const again = inFlight.map(kindOf).filter((kind) => kind !== 'fresh')
  return (turn) => {
    if (!hasPlace(turn, inFlight, inFlightMax)) return false
    const kind = kindOf(turn)
    if (kind === 'fresh') return true
    return again.length < retriesInFlightMax && !(kind === 'suspect' && again.includes('suspect'))
  }
}

type Choice = {
  /** The last one that was chosen. */
  wasFresh: boolean
  kindOf: KindOf
  /** Whose turn it is. */
  priority: number | undefined
}

/** What is sent next, of those that may start. Those of one kind and priority keep their order. */
export function chooseTurn(startable: Turn[], { wasFresh, kindOf, priority }: Choice): Turn | undefined {
  const turns = startable.filter(({ message }) => message.priority === priority)
  const fresh = turns.find((turn) => kindOf(turn) === 'fresh')
  const retry = turns.find((turn) => kindOf(turn) !== 'fresh')
  return wasFresh ? (retry ?? fresh) : (fresh ?? retry)
}

/** Whose turn it is: that of the highest priority of those that may start, but of a lower one after nine that passed over it. */
export type PriorityTurns = {
  next(startable: Turn[]): number | undefined
  /** This one leaves. */
  note(chosen: Turn, startable: Turn[]): void
}

const passedOverMax = 9

export function makePriorityTurns(): PriorityTurns {
  /** By priority, how many left since one of a lower priority did, while such were waiting. */
  const passes = priorities.map(() => 0)
  /** By priority, the number of the turn in which one left last. */
  const lastTurns = priorities.map(() => 0)
  let turnsTaken = 0

  const prioritiesOf = (turns: Turn[]) => [...new Set(turns.map(({ message }) => message.priority))].sort()
  const lastTurnOf = (priority: number) => lastTurns[priority] ?? 0
  const passesOf = (priority: number) => passes[priority] ?? 0

  return {
    next(startable) {
      const [highest, ...lower] = prioritiesOf(startable)
      if (highest === undefined || lower.length === 0 || passesOf(highest) < passedOverMax) return highest
      return lower.reduce((one, other) => (lastTurnOf(other) < lastTurnOf(one) ? other : one))
    },
    note({ message: { priority } }, startable) {
      turnsTaken += 1
      lastTurns[priority] = turnsTaken
      const [highest = priority, ...lower] = prioritiesOf(startable)
      if (priority > highest) passes[highest] = 0
      else if (lower.length > 0) passes[highest] = passesOf(highest) + 1
    },
  }
}
