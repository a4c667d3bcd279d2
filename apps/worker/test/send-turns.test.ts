import { describe, expect, test } from 'vitest'
import { makeSendTurns, type SendKind } from '../src/outbox/send-turns.ts'

type Item = { kind: SendKind; index: number }

const items = (kind: SendKind, count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({ kind, index }))

/** Starts items until none may start, and answers with them. */
function startAll(turns: ReturnType<typeof makeSendTurns<Item>>, waiting: Item[]): Item[] {
  const started: Item[] = []
  for (;;) {
    const next = turns.choose(waiting.filter((item) => !started.includes(item)))
    if (!next) return started
    turns.started(next)
    started.push(next)
  }
}

const kindsOf = (started: Item[]) => started.map(({ kind }) => kind)

describe('turns to send', () => {
  test('keep half of the capacity free of retries', () => {
    const turns = makeSendTurns<Item>(({ kind }) => kind)
    const retries = startAll(turns, items('retry', 20))
    expect(retries).toHaveLength(4)
    expect(startAll(turns, items('fresh', 20))).toHaveLength(4)
  })

  test('let new messages go first, and retries in between', () => {
    const turns = makeSendTurns<Item>(({ kind }) => kind)
    expect(kindsOf(startAll(turns, [...items('retry', 2), ...items('fresh', 4)]))).toEqual([
      'fresh',
      'retry',
      'fresh',
      'retry',
      'fresh',
      'fresh',
    ])
  })

  test('do not let new messages keep a retry waiting when the pace allows one at a time', () => {
    const turns = makeSendTurns<Item>(({ kind }) => kind)
    const sent: SendKind[] = []
    for (let round = 0; round < 4; round++) {
      const next = turns.choose([...items('fresh', 5), ...items('retry', 5)])
      if (!next) break
      turns.started(next)
      sent.push(next.kind)
      turns.ended(next)
    }
    expect(sent).toEqual(['fresh', 'retry', 'fresh', 'retry'])
  })

  test('allow one suspect in flight at a time', () => {
    const turns = makeSendTurns<Item>(({ kind }) => kind)
    const suspects = items('suspect', 3)
    const [first, ...more] = startAll(turns, suspects)
    expect(more).toEqual([])
    if (first) turns.ended(first)
    expect(startAll(turns, suspects.slice(1))).toHaveLength(1)
  })

  test('use the whole capacity for new messages', () => {
    const turns = makeSendTurns<Item>(({ kind }) => kind)
    expect(startAll(turns, items('fresh', 20))).toHaveLength(8)
  })
})
