import { expect, test } from 'vitest'
import { makeHands } from '../src/outbox/message-hands.ts'
import { planLanes } from '../src/outbox/recipient-lanes.ts'
import { makeMessage } from './waiting-rows.ts'

type Given = { failing: number[]; passable: number[]; working?: number[] }

/** Three messages to one recipient, and one to another. `failing`: they wait for another attempt. */
function plan({ failing, passable, working = [] }: Given) {
  const messages = [1, 2, 3, 9].map((seq) => makeMessage(seq, seq === 9 ? 'other' : 'one'))
  const hands = makeHands(
    messages
      .filter(({ seq }) => working.includes(seq))
      .map((message) => ({
        turn: { message, recipient: `${message.number}@jid` },
        state: 'written' as const,
      })),
  )
  return planLanes(messages, {
    recipientOf: ({ number }) => `${number}@jid`,
    isAcknowledged: hands.isAcknowledged,
    workFor: hands.workFor,
    waitMs: ({ seq }) => (failing.includes(seq) ? 5000 : 0),
    paceMs: () => 0,
    typingMs: () => 0,
    isRetry: ({ seq }) => failing.includes(seq) || passable.includes(seq),
    mayBePassed: ({ seq }) => passable.includes(seq),
  })
}

test.each([
  ['that fails holds back those behind it', { failing: [1], passable: [] }, [9]],
  ['that has failed for long holds back none', { failing: [1], passable: [1] }, [2, 9]],
  ['may be passed together with others', { failing: [1, 2], passable: [1, 2] }, [3, 9]],
  ['behind it may hold back others in turn', { failing: [1, 2], passable: [1] }, [9]],
  ['that is passed takes its turn when its time has come', { failing: [], passable: [1] }, [1, 9]],
  ['on the wire has the recipient for itself', { failing: [1], passable: [1], working: [2] }, [9]],
] as [string, Given, number[]][])('a message %s', (_, given, expected) => {
  expect(plan(given).ready.map(({ message }) => message.seq)).toEqual(expected)
})

test('a message that is passed is tried again in time, and what is behind it is read on', () => {
  const { pauseMs, available } = plan({ failing: [1], passable: [1] })
  expect(pauseMs).toBe(5000)
  expect(available.stocked).toEqual(new Set())
  expect(available.blocked.attempted).toBe(0)
})
