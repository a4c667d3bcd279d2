import { describe, expect, test } from 'vitest'
import { afterClose, isStreamError } from '../src/session/connection/reconnect-policy.ts'
import { banFor, endWith } from './socket-ends.ts'

const past = { failures: 0, refusals: 0, replacements: 0, isLoggingOut: false }
const hourMs = 3_600_000

describe('after WhatsApp closed a socket', () => {
  test('restarts at once for 515, without a reason in the status', () => {
    const next = { kind: 'reconnect', delayMs: 0, reason: null, hasGrace: true }
    expect(afterClose(endWith(515), { ...past, failures: 9 })).toEqual(next)
  })

  test.each([401, 516])('forgets the credentials for %s', (code) => {
    expect(afterClose(endWith(code), past)).toEqual({ kind: 'wipe', reason: 'logged_out' })
  })

  test.each([
    ['408', endWith(408)],
    ['428', endWith(428)],
    ['no code', endWith(undefined)],
    ['the acknowledgement of a message that WhatsApp misses', endWith(500, { isAckMissing: true })],
  ])('backs off from 1 s to 30 s for %s, also after refusals', (_, end) => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((failures) =>
      afterClose(end, { ...past, failures, refusals: 50 }, 1),
    )
    expect(delays).toEqual(
      [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((delayMs) => ({
        kind: 'reconnect',
        delayMs,
        reason: 'connection_lost',
        hasGrace: true,
      })),
    )
    expect(afterClose(end, { ...past, failures: 5 }, 0)).toMatchObject({ delayMs: 0 })
  })

  test.each([400, 413, 414, 415, 418, 429, 500, 501, 503, 599])(
    'backs off from 1 s to 20 minutes for %s, and says so',
    (code) => {
      const delayOf = (refusals: number, random: number) =>
        afterClose(endWith(code), { ...past, failures: 50, refusals }, random)
      const refused = { kind: 'reconnect', reason: 'whatsapp_unavailable', detail: String(code) }
      expect(delayOf(0, 0)).toEqual({ ...refused, delayMs: 1000, hasGrace: true })
      expect(delayOf(5, 0)).toEqual({ ...refused, delayMs: 32_000, hasGrace: true })
      expect(delayOf(6, 0)).toEqual({ ...refused, delayMs: 64_000, hasGrace: false })
      for (const refusals of [11, 50, 2000]) {
        expect(delayOf(refusals, 0)).toEqual({ ...refused, delayMs: 1_200_000, hasGrace: false })
        expect(delayOf(refusals, 1)).toMatchObject({ delayMs: 600_000 })
      }
    },
  )

  test.each([401, 402, 403, 405, 406, 409, 429, 503])(
    'concludes nothing about the sender from a proxy that answers %s',
    (code) => {
      const end = endWith(code, { isByWhatsApp: false })
      expect(afterClose(end, past, 0)).toMatchObject({
        kind: 'reconnect',
        reason: 'whatsapp_unavailable',
        delayMs: 1000,
      })
    },
  )

  test('reconnects at once after the first replacement (440), if Postgres confirms the lease', () => {
    expect(afterClose(endWith(440), { ...past, failures: 9 })).toEqual({
      kind: 'reconnect',
      delayMs: 0,
      reason: 'connection_replaced',
      hasGrace: true,
      needsLease: true,
    })
  })

  test.each([1, 2, 50])('waits a minute if %s replacements came before', (replacements) => {
    expect(afterClose(endWith(440), { ...past, replacements })).toEqual({
      kind: 'reconnect',
      delayMs: 60_000,
      reason: 'connection_replaced',
      hasGrace: false,
    })
  })

  test.each([
    ['a day', banFor(86_400_000, '101'), 86_401_000, 'too_many_people'],
    ['six hours when WhatsApp gives no time', banFor(null, '102'), 6 * hourMs, 'blocked_by_many'],
    ['a minute', banFor(60_000, '103'), 61_000, 'groups'],
    ['a second', banFor(1000, '104'), 2000, 'same_message'],
    ['no time', banFor(0, '106'), 1000, 'broadcast'],
    ['two seconds, for what is not known here', banFor(2000, '199'), 3000, 'code_199'],
    ['two seconds, for no reason given', banFor(2000), 3000, null],
  ])('blocks the number for %s (402)', (_, end, afterMs, detail) => {
    for (const isLoggingOut of [false, true]) {
      expect(afterClose(end, { ...past, isLoggingOut }, 0)).toEqual({
        kind: 'block',
        reason: 'temporarily_banned',
        detail,
        ends: { afterMs, withNextStep: false, withNewVersion: false },
      })
    }
  })

  test('does not log in again and again when every ban ends at once', () => {
    const next = afterClose(banFor(0), { ...past, refusals: 50 }, 0)
    expect(next).toMatchObject({ kind: 'block', ends: { afterMs: 1_200_000 } })
  })

  test.each([
    [403, 'blocked_by_whatsapp', null, false],
    [406, 'banned_by_whatsapp', null, false],
    [405, 'client_outdated', hourMs, true],
    [409, 'client_outdated', hourMs, true],
    [411, 'multi_device_mismatch', hourMs, false],
  ] as const)(
    'blocks logins after %s until the next step of the user',
    (code, reason, afterMs, withNewVersion) => {
      expect(afterClose(endWith(code), past)).toMatchObject({
        kind: 'block',
        reason,
        ends: { afterMs, withNextStep: true, withNewVersion },
      })
    },
  )

  test('shows what a number is locked for', () => {
    const next = afterClose(endWith(403, { violation: 'spam' }), past)
    expect(next).toMatchObject({ kind: 'block', detail: 'spam' })
  })

  test.each([
    [403, 'blocked_by_whatsapp'],
    [406, 'banned_by_whatsapp'],
    [411, 'multi_device_mismatch'],
  ])('forgets credentials that WhatsApp refuses with %s when the device is logging out', (code, reason) => {
    expect(afterClose(endWith(code), { ...past, isLoggingOut: true })).toEqual({ kind: 'wipe', reason })
  })

  test('a proxy that fails says nothing about the sender, whatever its code is', () => {
    const next = { kind: 'reconnect', delayMs: 4000, reason: 'proxy_failed', detail: '403', hasGrace: true }
    for (const code of [401, 402, 403, 406, 440, undefined]) {
      const end = endWith(code, { isByWhatsApp: false, proxyError: { detail: '403' } })
      expect(afterClose(end, { ...past, failures: 3 }, 0.5)).toEqual(next)
    }
  })

  test('reports the device as disconnected at once only if the pause is a minute or more', () => {
    for (const code of [408, 418, 428, 429, 440, 500, 503, 515, undefined]) {
      for (const count of [0, 1, 50]) {
        const history = { ...past, failures: count, refusals: count, replacements: count }
        const next = afterClose(endWith(code), history)
        if (next.kind !== 'reconnect') throw new Error('The device does not reconnect')
        expect({ code, hasGrace: next.hasGrace }).toEqual({ code, hasGrace: next.delayMs < 60_000 })
      }
    }
  })
})

test.each([
  ['500', endWith(500), true],
  ['503', endWith(503), true],
  ['429, which is about its rate', endWith(429), false],
  ['516', endWith(516), false],
  ['403', endWith(403), false],
  ['a missing acknowledgement', endWith(500, { isAckMissing: true }), false],
  ['500 of a proxy', endWith(500, { isByWhatsApp: false }), false],
  ['no code', endWith(undefined), false],
])('says whether a message may have ended the stream: %s', (_, end, expected) => {
  expect(isStreamError(end)).toBe(expected)
})
