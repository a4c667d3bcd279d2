import { expect, test } from 'vitest'
import { makeOutcomeFeed } from '../src/session/sending/outcomes.ts'

test('every outcome reaches the listeners in the order of their subscriptions, until they unsubscribe', () => {
  const outcomes = makeOutcomeFeed()
  const heard: string[] = []
  outcomes.subscribe((waId) => heard.push(`pacer ${waId}`))
  const unsubscribe = outcomes.subscribe((waId) => heard.push(`outbox ${waId}`))
  outcomes.publish('a', { kind: 'acknowledged' })
  unsubscribe()
  outcomes.publish('b', { kind: 'refused', code: '463' })
  expect(heard).toEqual(['pacer a', 'outbox a', 'pacer b'])
})

test('a listener may unsubscribe while it is called', () => {
  const outcomes = makeOutcomeFeed()
  const heard: string[] = []
  const unsubscribe = outcomes.subscribe(() => {
    unsubscribe()
    heard.push('first')
  })
  outcomes.subscribe(() => heard.push('second'))
  outcomes.publish('a', { kind: 'acknowledged' })
  expect(heard).toEqual(['first', 'second'])
})
