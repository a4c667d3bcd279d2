import { expect, test } from 'vitest'
import { messageMoves } from '../src/message-states.ts'
import { messages } from '../src/schema/messages.ts'

test('the column that claims and sweeps ask is true in the states that they move', () => {
  const generated = messages.isWaiting.generated?.as
  const [, list = ''] = /IN \((.*)\)/.exec(JSON.stringify(generated)) ?? []
  const states = list.split(', ').map((state) => state.replaceAll("'", ''))
  expect([states, states]).toEqual([messageMoves.claim.from, messageMoves.sweep.from])
})
