import { normalPriority } from '@wagate/shared/priorities'
import { expect, test } from 'vitest'
import { makeTyping } from '../src/outbox/send-loop.ts'
import type { AttemptResult } from '../src/outbox/settlement.ts'
import { openSendLoop } from './send-loops.ts'
import { makeMessage } from './waiting-rows.ts'

const typing = makeTyping({ sendPresenceUpdate: async () => undefined }, () => undefined)
const turn = { message: makeMessage(1, 'b'), recipient: 'b' }

test('a message is answered only when what follows from its answer has begun', async () => {
  let answer: (result: AttemptResult) => void = () => undefined
  const concluded: string[] = []
  const { loop } = openSendLoop({
    typing,
    attempt: () => new Promise((resolve) => (answer = resolve)),
    conclude: async ({ message }, { kind }) => void concluded.push(`${message.id} ${kind}`),
  })
  loop.start({ ready: [turn], unprepared: [] })

  answer({ kind: 'acknowledged' })
  await loop.untilAnswered()
  expect(concluded).toEqual(['id-1 acknowledged'])
})

test('a message whose attempt fails waits again, and frees its recipient', async () => {
  const { loop, hands } = openSendLoop({
    typing,
    attempt: async () => {
      throw new Error('No host')
    },
  })
  loop.start({ ready: [turn], unprepared: [] })
  expect(hands.workFor('b', normalPriority)).toBe('send')
  await loop.untilAnswered()
  expect(hands.workFor('b', normalPriority)).toBe(undefined)
})
