import { EventEmitter } from 'node:events'
import type { WASocket } from 'baileys'
import { expect, test } from 'vitest'
import { isQueryLimit, watchQueryLimits } from '../src/session/contacts/query-limits.ts'

function refusal(attrs: Record<string, string>) {
  return { tag: 'iq', attrs: { type: 'error' }, content: [{ tag: 'error', attrs }] }
}

test('the time that WhatsApp asks to wait is that of its last refusal for too many queries', () => {
  const ws = new EventEmitter()
  const limits = watchQueryLimits({ ws: ws as unknown as WASocket['ws'] })
  expect(limits.backoffMs()).toBe(0)
  for (const [attrs, backoffMs] of [
    [{ code: '429', backoff: '7' }, 7000],
    [{ code: '404', backoff: '9' }, 7000],
    [{ code: '503' }, 0],
    [{ code: '429', backoff: 'soon' }, 0],
    [{ code: '429', backoff: '-1' }, 0],
  ] as const) {
    ws.emit('frame', refusal(attrs))
    expect(limits.backoffMs()).toBe(backoffMs)
  }
  ws.emit('frame', { tag: 'iq', attrs: { type: 'result' } })
  ws.emit('frame', Buffer.from('handshake'))
})

test.each([
  [Object.assign(new Error('rate-overlimit'), { data: 429 }), true],
  [Object.assign(new Error('unavailable'), { data: 503 }), true],
  [Object.assign(new Error('not found'), { data: 404 }), false],
  [new Error('closed'), false],
  ['429', false],
])('%s is taken for such a refusal: %s', (error, is) => {
  expect(isQueryLimit(error)).toBe(is)
})
