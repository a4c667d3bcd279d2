import { describe, expect, test } from 'vitest'
import { afterClose as decide } from '../src/session/reconnect-policy.ts'

const afterClose = (code: number | undefined, failures: number, random?: number) =>
  decide(code, { failures, replacements: 0, isLoggingOut: false }, random)

describe('after WhatsApp closed a socket', () => {
  test('restarts at once for 515, without a reason in the status', () => {
    expect(afterClose(515, 9)).toEqual({ kind: 'reconnect', delayMs: 0, reason: null, hasGrace: true })
  })

  test('forgets the credentials for 401', () => {
    expect(afterClose(401, 0)).toEqual({ kind: 'wipe', reason: 'logged_out' })
  })

  test.each([408, 428, 500, 503, undefined])('backs off from 1 s to 30 s for %s', (code) => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((attempt) => afterClose(code, attempt, 1))
    expect(delays).toEqual(
      [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((delayMs) => ({
        kind: 'reconnect',
        delayMs,
        reason: 'connection_lost',
        hasGrace: true,
      })),
    )
    expect(afterClose(code, 5, 0)).toMatchObject({ delayMs: 0 })
  })

  test('reconnects at once after the first replacement (440), if Postgres confirms the lease', () => {
    expect(decide(440, { failures: 9, replacements: 0, isLoggingOut: false })).toEqual({
      kind: 'reconnect',
      delayMs: 0,
      reason: 'connection_replaced',
      hasGrace: true,
      needsLease: true,
    })
  })

  test.each([1, 2, 50])('waits a minute if %s replacements came before', (replacements) => {
    expect(decide(440, { failures: 0, replacements, isLoggingOut: false })).toEqual({
      kind: 'reconnect',
      delayMs: 60_000,
      reason: 'connection_replaced',
      hasGrace: false,
    })
  })

  test.each([
    [402, 'temporarily_banned'],
    [403, 'blocked_by_whatsapp'],
    [405, 'client_outdated'],
    [406, 'banned_by_whatsapp'],
    [409, 'client_outdated'],
    [411, 'multi_device_mismatch'],
  ])('reports the reason of %s, and reconnects only after minutes', (code, reason) => {
    const next = afterClose(code, 0, 0)
    expect(next).toMatchObject({ kind: 'reconnect', reason })
    expect(next.kind === 'reconnect' && next.delayMs).toBeGreaterThanOrEqual(600_000)
  })

  test.each([
    [403, 'blocked_by_whatsapp'],
    [406, 'banned_by_whatsapp'],
  ])('forgets credentials that WhatsApp refuses with %s when the device is logging out', (code, reason) => {
    expect(decide(code, { failures: 0, replacements: 0, isLoggingOut: true })).toEqual({
      kind: 'wipe',
      reason,
    })
  })

  test('reports the device as disconnected at once only if the pause is a minute or more', () => {
    const codes = [402, 403, 405, 406, 408, 409, 411, 428, 440, 500, 503, 515, undefined]
    for (const code of codes) {
      for (const replacements of [0, 1]) {
        const next = decide(code, { failures: 50, replacements, isLoggingOut: false })
        if (next.kind !== 'reconnect') throw new Error('A link was lost')
        expect({ code, hasGrace: next.hasGrace }).toEqual({ code, hasGrace: next.delayMs < 60_000 })
      }
    }
  })
})
