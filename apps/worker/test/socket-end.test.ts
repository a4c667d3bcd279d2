import { expect, test } from 'vitest'
import { readSocketEnd } from '../src/session/connection/socket-end.ts'
import { ProxyError } from '../src/session/network/proxy-agent.ts'
import { endWith } from './socket-ends.ts'

/** As Baileys reports it: an error with `output.statusCode` and `data`. */
function boom(statusCode: number, data: unknown): Error {
  return Object.assign(new Error('Connection Failure'), { output: { statusCode }, data })
}

test.each([
  ['a failure', boom(503, { reason: '503', location: 'x' }), endWith(503)],
  [
    'a temporary ban',
    boom(402, { reason: '402', code: '101', expire: '3600' }),
    endWith(402, { ban: { code: '101', forMs: 3_600_000 } }),
  ],
  [
    'a ban with attributes that make no sense',
    boom(402, { reason: '402', code: '<b>', expire: '-1' }),
    endWith(402),
  ],
  [
    'a locked number',
    boom(403, { reason: '403', violation_reason: 'SPAM_14', appeal_token: 'secret' }),
    endWith(403, { violation: 'SPAM_14' }),
  ],
  [
    'a locked number with a violation that is not plain text',
    boom(403, { reason: '403', violation_reason: '<script>alert(1)</script>' }),
    endWith(403),
  ],
  [
    'a stream error with a missing acknowledgement',
    boom(500, { tag: 'ack', attrs: { class: 'message', id: '3EB0' } }),
    endWith(500, { isAckMissing: true }),
  ],
  [
    'a stream error without a child',
    boom(516, { tag: 'stream:error', attrs: { code: '516' } }),
    endWith(516),
  ],
  [
    'a proxy that gave no connection',
    boom(408, new ProxyError('407')),
    endWith(408, { isByWhatsApp: false, proxyError: { detail: '407' } }),
  ],
  ['a replaced connection', boom(440, { tag: 'conflict', attrs: { type: 'replaced' } }), endWith(440)],
  ['a removed device', boom(401, { tag: 'conflict', attrs: { type: 'device_removed' } }), endWith(401)],
  [
    'a removed device, in a stream error without a code',
    boom(440, { tag: 'conflict', attrs: { type: 'device_removed' } }),
    endWith(401),
  ],
  [
    'an HTTP status in place of a WebSocket',
    boom(403, new Error('Unexpected server response: 403')),
    endWith(403, { isByWhatsApp: false }),
  ],
  ['a socket that failed', boom(408, new Error('ECONNRESET')), endWith(408, { isByWhatsApp: false })],
  ['a reason that is not a number', boom(Number.NaN, { reason: 'x' }), endWith(undefined)],
  ['an error of another kind', new TypeError('x'), endWith(undefined)],
  ['nothing', undefined, endWith(undefined)],
])('reads %s', (_, error, expected) => {
  const end = readSocketEnd(error)
  expect(end).toEqual(expected)
  expect(JSON.stringify(end)).not.toContain('secret')
})
