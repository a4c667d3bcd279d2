import { expect, test } from 'vitest'
import { planAfterRefusal, type RefusalPlan } from '../src/outbox/refusals.ts'
import { readAcknowledgement } from '../src/session/sending/outcomes.ts'

const cases: [attributes: Record<string, string>, first: RefusalPlan, again: RefusalPlan][] = [
  [{ error: '463' }, 'ask-time-lock', 'ask-time-lock'],
  [{ error: '463', refresh_lid: 'true' }, 'ask-time-lock', 'ask-time-lock'],
  [{ error: '475' }, 'ask-new-chat-cap', 'ask-new-chat-cap'],
  [{ error: '479' }, 'refresh-devices', 'fail'],
  [{ error: '421' }, 'refresh-devices', 'fail'],
  [{ error: '421', phash: '2:abcdefgh' }, 'refresh-devices', 'fail'],
  [{ error: '400', refresh_lid: 'true' }, 'refresh-devices', 'fail'],
  [{ error: '408' }, 'try-later', 'try-later'],
  [{ error: '429' }, 'try-later', 'try-later'],
  [{ error: '500' }, 'try-later', 'try-later'],
  [{ error: '503', refresh_lid: 'true' }, 'try-later', 'try-later'],
  [{ error: '400' }, 'fail', 'fail'],
  [{ error: '404' }, 'fail', 'fail'],
  [{ error: '488' }, 'fail', 'fail'],
  [{ error: 'new' }, 'fail', 'fail'],
]

test.each(cases)(
  'an acknowledgement with %j is followed by %s, and by %s the next time',
  (attributes, ...plans) => {
    const refusal = readAcknowledgement(attributes)
    if (refusal.kind !== 'refused') throw new Error('not a refusal')
    expect([false, true].map((wasRefreshed) => planAfterRefusal(refusal, wasRefreshed))).toEqual(plans)
  },
)

test('an acknowledgement without an error says that the message is sent, and what the sender has to ask again', () => {
  expect(readAcknowledgement({ id: 'A' })).toEqual({ kind: 'acknowledged' })
  expect(readAcknowledgement({ phash: '2:abcdefgh' })).toEqual({
    kind: 'acknowledged',
    deviceHash: '2:abcdefgh',
  })
  expect(readAcknowledgement({ refresh_lid: 'true' })).toEqual({ kind: 'acknowledged', isMappingStale: true })
  expect(readAcknowledgement({ refresh_lid: 'false' })).toEqual({ kind: 'acknowledged' })
})
