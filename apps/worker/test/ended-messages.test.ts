import { expect, test } from 'vitest'
import { makeEndedCheck } from '../src/outbox/ended-messages.ts'
import { makeHands } from '../src/outbox/message-hands.ts'
import { makeMessage } from './waiting-rows.ts'

type Given = { waitMs?: number; preparingMs?: number; isAcknowledged?: boolean; type?: 'text' | 'image' }

/** One message, which Postgres calls ended. */
async function check({ waitMs = 0, preparingMs, isAcknowledged = false, type = 'text' }: Given) {
  let nowMs = 0
  const ending = new AbortController()
  const message = makeMessage(1, 'one', { type })
  const turn = { message, recipient: 'one@jid' }
  const hands = makeHands([], () => nowMs)
  if (preparingMs !== undefined) hands.move(turn, 'prepare')
  if (isAcknowledged) hands.move(turn, 'acknowledge')
  nowMs += preparingMs ?? 0
  let list = [message]
  let statements = 0
  const run = makeEndedCheck(
    {
      waiting: {
        list: () => list,
        remove: () => {
          list = []
        },
      },
      hands,
      facts: { waitMs: () => waitMs },
      async findEnded(asked) {
        statements += 1
        return asked.map(({ id }) => id)
      },
    },
    {
      onRemoved: () => undefined,
      signal: ending.signal,
    },
  )
  run()
  await new Promise(setImmediate)
  ending.abort()
  return { statements, isListed: list.length > 0, isWorkedOn: hands.isWorkedOn(message) }
}

test.each([
  ['is about to leave', {}, { statements: 0, isListed: true, isWorkedOn: false }],
  ['waits for another attempt', { waitMs: 5000 }, { statements: 1, isListed: false, isWorkedOn: false }],
  [
    'waits for a place to be prepared',
    { type: 'image' },
    { statements: 1, isListed: false, isWorkedOn: false },
  ],
  ['has begun to be prepared', { preparingMs: 200 }, { statements: 0, isListed: true, isWorkedOn: true }],
  [
    'is being prepared for long',
    { preparingMs: 2000 },
    { statements: 1, isListed: false, isWorkedOn: false },
  ],
  [
    'was sent after all',
    { waitMs: 5000, isAcknowledged: true },
    { statements: 0, isListed: true, isWorkedOn: false },
  ],
] as const)('a message that %s', async (_, given, expected) => {
  expect(await check(given)).toEqual(expected)
})
