import { normalPriority } from '@wagate/shared/priorities'
import { describe, expect, test } from 'vitest'
import { makeHands } from '../src/outbox/message-hands.ts'
import { type LaneFacts, planLanes, type Turn } from '../src/outbox/recipient-lanes.ts'
import { chooseTurn, makePriorityTurns, placesFor, type SendKind } from '../src/outbox/turns.ts'
import { makeMessage } from './waiting-rows.ts'

type Item = Turn & { kind: SendKind }

let made = 0
const items = (kind: SendKind, count: number, priority = normalPriority): Item[] =>
  Array.from({ length: count }, () => {
    made += 1
    return { kind, message: makeMessage(made, `${made}`, { priority }), recipient: `${made}` }
  })
const kindOf = (turn: Turn) => (turn as Item).kind

/** The messages in flight of one sender. */
function makeFlight() {
  const inFlight = new Set<Item>()
  const priorityTurns = makePriorityTurns()
  let wasFresh = false

  function startNext(waiting: Item[]): Item | undefined {
    const startable = waiting.filter(placesFor([...inFlight], kindOf))
    const priority = priorityTurns.next(startable)
    const next = chooseTurn(startable, { wasFresh, kindOf, priority }) as Item | undefined
    if (!next) return undefined
    priorityTurns.note(next, startable)
    wasFresh = next.kind === 'fresh'
    inFlight.add(next)
    return next
  }

  return {
    startNext,
    /** Starts items until none may start, and answers with them. */
    startAll(waiting: Item[]): Item[] {
      const started: Item[] = []
      for (;;) {
        const next = startNext(waiting.filter((item) => !started.includes(item)))
        if (!next) return started
        started.push(next)
      }
    },
    /** Sends one at a time, as the pace of a sender allows. Answers with the priorities of what left. */
    sendPaced(waiting: Item[], turns: number): number[] {
      const left = [...waiting]
      return Array.from({ length: turns }, () => {
        const next = startNext(left)
        if (!next) throw new Error('Nothing may leave')
        left.splice(left.indexOf(next), 1)
        inFlight.delete(next)
        return next.message.priority
      })
    },
    end: (item: Item) => void inFlight.delete(item),
  }
}

const kindsOf = (started: Item[]) => started.map(({ kind }) => kind)

describe('turns to send', () => {
  test('keep half of the capacity free of retries', () => {
    const { startAll } = makeFlight()
    expect(startAll(items('retry', 20))).toHaveLength(4)
    expect(startAll(items('fresh', 20))).toHaveLength(4)
  })

  test('let new messages go first, and retries in between', () => {
    const { startAll } = makeFlight()
    expect(kindsOf(startAll([...items('retry', 2), ...items('fresh', 4)]))).toEqual([
      'fresh',
      'retry',
      'fresh',
      'retry',
      'fresh',
      'fresh',
    ])
  })

  test('do not let new messages keep a retry waiting when the pace allows one at a time', () => {
    const flight = makeFlight()
    const sent: SendKind[] = []
    for (let round = 0; round < 4; round++) {
      const next = flight.startNext([...items('fresh', 5), ...items('retry', 5)])
      if (!next) break
      sent.push(next.kind)
      flight.end(next)
    }
    expect(sent).toEqual(['fresh', 'retry', 'fresh', 'retry'])
  })

  test('allow one suspect in flight at a time', () => {
    const flight = makeFlight()
    const suspects = items('suspect', 3)
    const [first, ...more] = flight.startAll(suspects)
    expect(more).toEqual([])
    if (first) flight.end(first)
    expect(flight.startAll(suspects.slice(1))).toHaveLength(1)
  })

  test('use the whole capacity for new messages', () => {
    expect(makeFlight().startAll(items('fresh', 20))).toHaveLength(8)
  })
})

describe('turns of priorities', () => {
  const [high, normal, bulk] = [0, 1, 2]

  test('a message of high priority takes the next turn, also before retries of others', () => {
    const flight = makeFlight()
    const others = [...items('retry', 9), ...items('fresh', 50, bulk), ...items('fresh', 5)]
    expect(flight.sendPaced(others, 6)).not.toContain(high)
    expect(flight.sendPaced([...others, ...items('fresh', 1, high)], 1)).toEqual([high])
  })

  test('a message of high priority has a place while others fill the flight', () => {
    const { startAll } = makeFlight()
    startAll(items('fresh', 20, bulk))
    expect(startAll(items('fresh', 20, high))).toHaveLength(2)
    expect(startAll(items('fresh', 20, bulk))).toHaveLength(0)
  })

  test('however many of high priority wait, and however slow the answers are, others have their turns', () => {
    const flight = makeFlight()
    const waiting = [...items('fresh', 200, high), ...items('fresh', 20), ...items('fresh', 20, bulk)]
    const started = flight.startAll(waiting)
    expect(started).toHaveLength(10)
    for (let n = 0; n < 100; n++) {
      flight.end(started[n] as Item)
      started.push(...flight.startAll(waiting.filter((item) => !started.includes(item))))
    }
    const lower = started.filter(({ message }) => message.priority !== high).length
    expect(lower).toBeGreaterThanOrEqual(9)
  })

  test('a tenth of the turns goes to what they pass over', () => {
    const sent = makeFlight().sendPaced([...items('fresh', 50), ...items('fresh', 50, bulk)], 40)
    expect(sent.flatMap((priority, turn) => (priority === bulk ? [turn] : []))).toEqual([9, 19, 29, 39])
  })

  test('and is shared by all lower priorities, so that none starves', () => {
    const waiting = [...items('fresh', 90, high), ...items('fresh', 9), ...items('fresh', 9, bulk)]
    const sent = makeFlight()
      .sendPaced(waiting, 60)
      .filter((priority) => priority !== high)
    expect(sent).toEqual([normal, bulk, normal, bulk, normal, bulk])
  })

  test('a turn that was passed over before is no debt of a message of high priority', () => {
    const flight = makeFlight()
    const others = [...items('fresh', 50), ...items('fresh', 50, bulk)]
    flight.sendPaced(others, 9)
    expect(flight.sendPaced([...others, ...items('fresh', 1, high)], 2)).toEqual([high, bulk])
  })
})

test('a message of higher priority goes before another one to the same recipient, also while that is prepared', () => {
  const [normal, high] = [makeMessage(1, '1', { type: 'image' }), makeMessage(2, '1', { priority: 0 })]
  const hands = makeHands()
  hands.move({ message: normal, recipient: '1@jid' }, 'prepare')
  const facts: LaneFacts = {
    recipientOf: () => '1@jid',
    isAcknowledged: () => false,
    workFor: hands.workFor,
    waitMs: () => 0,
    paceMs: () => 0,
    isRetry: () => false,
    typingMs: () => 0,
    mayBePassed: () => false,
  }
  const readyOf = () => planLanes([high, normal], facts).ready.map(({ message }) => message.id)
  expect(readyOf()).toEqual([high.id])
  normal.uploadedContent = Buffer.from('uploaded')
  hands.move({ message: normal, recipient: '1@jid' }, 'prepared')
  expect(readyOf(), 'one at a time').toEqual([high.id])
  hands.move({ message: high, recipient: '1@jid' }, 'claim')
  expect(readyOf(), 'which waits for the answer').toEqual([])
})
