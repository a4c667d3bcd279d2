import { expect, test } from 'vitest'
import { afterEnd } from '../src/device/after-end.ts'
import { afterClose } from '../src/session/connection/reconnect-policy.ts'
import { banFor, endWith } from './socket-ends.ts'

const past = { failures: 0, refusals: 0, replacements: 0, isLoggingOut: false }
const nowMs = 100_000
const hourMs = 3_600_000
const login = { kind: 'login', rev: 5, version: '2.3000.1', forMs: 20 } as const
const pairing = { ...login, kind: 'pairing' } as const

const offline = { connection: 'offline', hasGrace: false }

test.each([
  [
    'a ban, for every revision',
    banFor(9000, '101'),
    { delayMs: 10_000, state: { kind: 'waiting', untilMs: nowMs + 10_000, rev: null, version: null } },
    {
      ...offline,
      reason: 'temporarily_banned',
      detail: 'too_many_people',
      block: { forMs: 10_000, rev: null, version: null },
    },
  ],
  [
    'a lock, for this revision',
    endWith(403, { violation: 'spam' }),
    {
      delayMs: Number.POSITIVE_INFINITY,
      state: { kind: 'waiting', untilMs: Number.POSITIVE_INFINITY, rev: 5, version: null },
    },
    {
      ...offline,
      reason: 'blocked_by_whatsapp',
      detail: 'spam',
      block: { forMs: null, rev: 5, version: null },
    },
  ],
  [
    'an outdated client, for this revision and version',
    endWith(405),
    {
      delayMs: hourMs,
      state: { kind: 'waiting', untilMs: nowMs + hourMs, rev: 5, version: '2.3000.1' },
    },
    {
      ...offline,
      reason: 'client_outdated',
      detail: '405',
      block: { forMs: hourMs, rev: 5, version: '2.3000.1' },
    },
  ],
  [
    'a restart, which ends an earlier block',
    endWith(515),
    { delayMs: 980, state: { kind: 'waiting', untilMs: nowMs + 980, rev: 5, version: null } },
    { connection: 'offline', reason: null, detail: null, hasGrace: true },
  ],
  [
    'a replaced connection, until the lease is confirmed',
    endWith(440),
    {
      delayMs: 980,
      needsLease: true,
      state: { kind: 'waiting', untilMs: nowMs + 60_000, rev: 5, version: null },
    },
    { connection: 'offline', reason: 'connection_replaced', detail: null, hasGrace: true },
  ],
  ['a lost link', endWith(401), { delayMs: 0, state: { kind: 'refused', reason: 'logged_out' } }, null],
] as const)('%s', (_, end, expected, change) => {
  expect(afterEnd(afterClose(end, past, 0), login, nowMs)).toEqual({ needsLease: false, ...expected, change })
})

test('a long pause counts for every later owner, until the next step of the user', () => {
  const after = (refusals: number) =>
    afterEnd(afterClose(endWith(429), { ...past, refusals }, 0), login, nowMs)
  const refused = { ...offline, reason: 'whatsapp_unavailable', detail: '429' }
  expect(after(5)).toMatchObject({ delayMs: 32_000, change: { ...refused, hasGrace: true } })
  expect(after(5).change).not.toHaveProperty('block')
  const block = { forMs: 64_000, rev: 5, version: null }
  expect(after(6)).toMatchObject({ delayMs: 64_000, change: { ...refused, block } })
})

test.each([
  ['a ban', banFor(9_000_000), 600_000],
  ['a lock', endWith(403), 600_000],
  ['credentials that no phone has linked yet', endWith(401), 1000],
  ['an overload', endWith(503), 1000],
])(
  'a QR code comes again after ten minutes at most, for every refusal by WhatsApp: %s',
  (_, end, delayMs) => {
    expect(afterEnd(afterClose(end, past, 0), pairing, nowMs)).toEqual({
      state: { kind: 'waiting', untilMs: nowMs + delayMs, rev: 5, version: null },
      delayMs,
      change: null,
      needsLease: false,
    })
  },
)
