import { expect, test } from 'vitest'
import type { Turn } from '../src/outbox/recipient-lanes.ts'
import { makeRecipientWork } from '../src/outbox/recipient-work.ts'
import { makeMessage } from './waiting-rows.ts'

const turn = (recipient: string): Turn => ({ message: makeMessage(1, recipient, {}), recipient })

function setUp() {
  const calls: string[] = []
  const work = makeRecipientWork({
    onFailed: ({ recipient }, kind, error) => calls.push(`${kind} to ${recipient} failed: ${error}`),
    onDone: () => calls.push('done'),
  })
  return { calls, work }
}

test('a recipient is occupied until the work for it has ended', async () => {
  const { calls, work } = setUp()
  let end: () => void = () => undefined
  const sending = work.run(turn('a'), 'send', () => new Promise((resolve) => (end = resolve)))
  expect([work.kindFor('a'), work.kindFor('b')]).toEqual(['send', undefined])
  expect([work.count('send'), work.count('prepare')]).toEqual([1, 0])
  end()
  await sending
  expect([work.kindFor('a'), calls]).toEqual([undefined, ['done']])
})

test('work that fails is reported, and frees its recipient', async () => {
  const { calls, work } = setUp()
  await work.run(turn('a'), 'prepare', () => Promise.reject('no host'))
  expect([work.kindFor('a'), calls]).toEqual([undefined, ['prepare to a failed: no host', 'done']])
})
