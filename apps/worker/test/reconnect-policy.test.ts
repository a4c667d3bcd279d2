import { describe, expect, it } from 'vitest'
import { afterClose } from '../src/session/reconnect-policy.ts'

describe('after WhatsApp closed a socket', () => {
  it('restarts at once for 515, without a reason in the status', () => {
    expect(afterClose(515, 9)).toEqual({ kind: 'reconnect', delayMs: 0, reason: null })
  })

  it('forgets the credentials for 401', () => {
    expect(afterClose(401, 0)).toEqual({ kind: 'wipe', reason: 'logged_out' })
  })

  it.each([408, 428, 500, 503, undefined])('backs off from 1 s to 30 s for %s', (code) => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((attempt) => afterClose(code, attempt, 1))
    expect(delays).toEqual(
      [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((delayMs) => ({
        kind: 'reconnect',
        delayMs,
        reason: 'connection_lost',
      })),
    )
    expect(afterClose(code, 5, 0)).toMatchObject({ delayMs: 0 })
  })

  it('does not fight whoever replaced it (440)', () => {
    expect(afterClose(440, 0, 0)).toEqual({
      kind: 'reconnect',
      delayMs: 60_000,
      reason: 'connection_replaced',
    })
  })

  it.each([
    [403, 'blocked_by_whatsapp'],
    [405, 'client_outdated'],
    [411, 'multi_device_mismatch'],
  ])('says what %s means, and tries again only after minutes', (code, reason) => {
    const next = afterClose(code, 0, 0)
    expect(next).toMatchObject({ kind: 'reconnect', reason })
    expect(next.kind === 'reconnect' && next.delayMs).toBeGreaterThanOrEqual(600_000)
  })

  it('has the device disconnected at once only when it is blocked (403)', () => {
    const withoutGrace = [403, 405, 408, 411, 428, 440, 500, 503, 515, undefined].filter((code) => {
      const next = afterClose(code, 0)
      return next.kind === 'reconnect' && next.hasGrace === false
    })
    expect(withoutGrace).toEqual([403])
  })
})
