import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isLastTry, makeUndecryptable, unavailableReasonOf } from '../src/session/receiving/unavailable.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a message is reported once: at the last try, or when no try has succeeded in time', () => {
  const undecryptable = makeUndecryptable(1000)
  const [late, last, opened] = [vi.fn(), vi.fn(), vi.fn()]
  undecryptable.failed('late', late, false)
  undecryptable.failed('last', last, false)
  undecryptable.failed('last', last, true)
  undecryptable.failed('opened', opened, false)
  undecryptable.opened('opened')
  expect(last).toHaveBeenCalledTimes(1)
  expect(late).not.toHaveBeenCalled()
  vi.advanceTimersByTime(5000)
  undecryptable.failed('late', late, true)
  expect([late, last, opened].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0])
})

test('nothing is reported after the end of the session', () => {
  const undecryptable = makeUndecryptable(1000)
  const report = vi.fn()
  undecryptable.failed('A1', report, false)
  undecryptable.close()
  vi.advanceTimersByTime(5000)
  expect(report).not.toHaveBeenCalled()
})

const stanza = (tag: string, attrs: Record<string, string> = {}) => ({
  tag: 'message',
  attrs: {},
  content: [{ tag, attrs, ...(tag === 'enc' && { content: Buffer.alloc(1) }) }],
})

test.each([
  ['view_once', 'view_once'],
  ['view_once_unavailable_fanout', 'view_once'],
  ['hosted_unavailable_fanout', 'hosted'],
  ['bot_unavailable_fanout', 'bot'],
  ['another', 'withheld'],
])('an empty message of the type %s is %s', (type, reason) => {
  expect(unavailableReasonOf(stanza('unavailable', { type }))).toBe(reason)
})

test('a message with content is not empty, and the fifth resend is the last', () => {
  expect(unavailableReasonOf(stanza('enc'))).toBeUndefined()
  expect(unavailableReasonOf(stanza('unavailable'))).toBe('withheld')
  expect([undefined, '4', '5'].map((count) => isLastTry(stanza('enc', count ? { count } : {})))).toEqual([
    false,
    false,
    true,
  ])
})
