import { describe, expect, test } from 'vitest'
import { reachOf } from '../src/session/fan-out.ts'
import { companion, makeAttempts, own, ownPhone, recipient } from './attempts.ts'

describe('the reach of a message', () => {
  test.each([
    { encrypted: [ownPhone, recipient, companion], failed: [], reach: 'all' },
    { encrypted: [ownPhone, companion], failed: [recipient], reach: 'part' },
    { encrypted: [recipient], failed: [ownPhone], reach: 'all' },
    { encrypted: [ownPhone], failed: [], reach: 'none' },
    { encrypted: ['900000000000001@lid'], failed: [], reach: 'none' },
    { encrypted: [], failed: [recipient], reach: 'none' },
  ])('is $reach when it was encrypted for $encrypted, but not for $failed', ({ reach, ...fanOut }) => {
    expect(reachOf(fanOut, recipient, own)).toBe(reach)
  })

  test('includes the sender when the sender is the recipient', () => {
    expect(reachOf({ encrypted: [ownPhone], failed: [] }, ownPhone, own)).toBe('all')
  })
})

describe('a delivery', () => {
  test('leaves out a device of the recipient only when it fails a second time', async () => {
    const { attempt, sent } = makeAttempts({ failing: [companion] })
    await expect(attempt()).rejects.toThrow('could not be encrypted for every device')
    expect(await attempt()).toEqual({ kind: 'acknowledged' })
    expect(sent()).toEqual({ times: 2, forgotten: ['15550000002', '15550000001', '900000000000001'] })
  })

  test('never counts a message as sent when nothing in it is for the recipient', async () => {
    const { attempt } = makeAttempts({ failing: [recipient, companion] })
    for (let n = 0; n < 3; n++) await expect(attempt()).rejects.toThrow('could not be encrypted')
  })

  test('sends a message once when every device can read it', async () => {
    const { attempt, sent } = makeAttempts({ failing: [] })
    expect(await attempt()).toEqual({ kind: 'acknowledged' })
    expect(sent()).toEqual({ times: 1, forgotten: [] })
  })
})
