import { describe, expect, test } from 'vitest'
import { chooseTurn, type SendKind } from '../src/outbox/send-loop.ts'

type Item = { kind: SendKind; index: number }

const items = (kind: SendKind, count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({ kind, index }))

/** The messages in flight of one sender. */
function makeFlight() {
  const inFlight = new Set<Item>()
  let wasFresh = false

  function startNext(waiting: Item[]): Item | undefined {
    const kindOf = ({ kind }: Item) => kind
    const next = chooseTurn(waiting, { inFlight: [...inFlight].map(kindOf), wasFresh, kindOf })
    if (!next) return undefined
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
