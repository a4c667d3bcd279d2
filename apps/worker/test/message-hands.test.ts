import { normalPriority } from '@wagate/shared/priorities'
import { describe, expect, test } from 'vitest'
import { type HandMove, type HandState, makeHands, moveHand } from '../src/outbox/message-hands.ts'
import { makeMessage } from './waiting-rows.ts'

const turnTo = (recipient: string, seq = 1) => ({ message: makeMessage(seq, recipient), recipient })

describe('the hand of a message', () => {
  const states: HandState[] = [
    'waiting',
    'preparing',
    'claiming',
    'claimed',
    'written',
    'refused',
    'acknowledged',
  ]
  const moves: HandMove[] = [
    'prepare',
    'prepared',
    'claim',
    'claimed',
    'write',
    'refuse',
    'acknowledge',
    'retry',
  ]
  const reach = (state: HandState, move: HandMove) => moveHand(state, move) ?? '-'

  test('moves only so', () => {
    expect(
      Object.fromEntries(states.map((state) => [state, moves.map((move) => reach(state, move))])),
    ).toEqual({
      waiting: ['preparing', '-', 'claiming', '-', '-', '-', 'acknowledged', '-'],
      preparing: ['-', 'waiting', '-', '-', '-', '-', '-', 'waiting'],
      claiming: ['-', '-', '-', 'claimed', '-', '-', '-', 'waiting'],
      claimed: ['-', '-', '-', '-', 'written', '-', '-', 'waiting'],
      written: ['-', '-', '-', '-', 'written', 'refused', 'acknowledged', 'waiting'],
      refused: ['-', '-', '-', '-', '-', '-', '-', 'waiting'],
      acknowledged: ['-', '-', '-', '-', '-', '-', '-', '-'],
    })
  })

  test('a move that is not possible throws, and changes nothing', () => {
    const hands = makeHands()
    const turn = turnTo('a')
    hands.move(turn, 'claim')
    expect(() => hands.move(turn, 'write')).toThrow('A message that is claiming cannot write')
    expect(hands.isWorkedOn(turn.message)).toBe(true)
  })
})

describe('the hands of an outbox', () => {
  test('a recipient is occupied while one of its messages is worked on', () => {
    const hands = makeHands()
    const turn = turnTo('a')
    hands.move(turn, 'claim')
    expect([hands.workFor('a', normalPriority), hands.workFor('b', normalPriority)]).toEqual([
      'send',
      undefined,
    ])
    expect([hands.turnsOf('send').length, hands.turnsOf('prepare').length]).toEqual([1, 0])
    hands.move(turn, 'retry')
    expect([hands.workFor('a', normalPriority), hands.turnsOf('send')]).toEqual([undefined, []])
  })

  test('a recipient is free once WhatsApp has acknowledged, and the message is not sent again', () => {
    const hands = makeHands()
    const turn = turnTo('a')
    for (const move of ['claim', 'claimed', 'write', 'acknowledge'] as const) hands.move(turn, move)
    expect(hands.workFor('a', normalPriority)).toBe(undefined)
    expect(hands.isAcknowledged(turn.message)).toBe(true)
    expect(() => hands.move(turn, 'claim')).toThrow('acknowledged')
  })

  test('what ends for one message says nothing about another one to the same recipient', () => {
    const hands = makeHands()
    const [first, second] = [turnTo('a', 1), turnTo('a', 2)]
    hands.move(first, 'claim')
    hands.move(second, 'acknowledge')
    hands.drop(second.message)
    expect(hands.workFor('a', normalPriority)).toBe('send')
    hands.drop(first.message)
    expect(hands.workFor('a', normalPriority)).toBe(undefined)
  })
})
