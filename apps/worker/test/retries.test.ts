import type { Setback } from '@wagate/shared/timeline-marks'
import { describe, expect, test } from 'vitest'
import { makeRetries } from '../src/outbox/retries.ts'

function setUp() {
  let nowMs = 0
  const retries = makeRetries({ nowMs: () => nowMs, random: () => 0 })
  return {
    retries,
    pausesAfter(setback: Setback, times: number): number[] {
      return Array.from({ length: times }, () => {
        retries.note('1', setback)
        const waitMs = retries.waitMs('1')
        nowMs += waitMs
        return waitMs
      })
    },
  }
}

describe('the memory of messages that have to be sent again', () => {
  test.each([
    ['unanswered', [0, 5000, 10_000, 20_000]],
    ['disconnected', [0, 1000, 2000, 4000]],
    ['stream_ended', [0, 2000, 4000, 8000]],
    ['refused', [2000, 4000, 8000, 16_000]],
    ['send_failed', [500, 1000, 2000, 4000]],
    ['unprepared', [1000, 2000, 4000, 8000]],
  ] as const)('makes a message wait longer each time that it was %s', (setback, pauses) => {
    expect(setUp().pausesAfter(setback, 4)).toEqual(pauses)
  })

  test('makes no message wait for more than ten minutes', () => {
    expect(Math.max(...setUp().pausesAfter('unanswered', 30))).toBe(600_000)
  })

  test('blames a message only for connections that had worked before it was sent', () => {
    const { retries } = setUp()
    for (let ends = 0; ends < 20; ends++) retries.note('1', 'stream_ended', { isBlamed: false })
    expect(retries.isHopeless('1')).toBe(false)
    for (let ends = 0; ends < 4; ends++) retries.note('1', 'stream_ended', { isBlamed: true })
    expect(retries.isHopeless('1')).toBe(false)
    retries.note('1', 'stream_ended', { isBlamed: true })
    expect(retries.isHopeless('1')).toBe(true)
  })

  test('never gives up a message for connections that the network ended', () => {
    const { retries } = setUp()
    for (let ends = 0; ends < 50; ends++) retries.note('1', 'disconnected', { isBlamed: true })
    expect(retries.isHopeless('1')).toBe(false)
    expect(retries.streamEnds('1')).toBe(0)
  })

  test('keeps the last setback of a message until it is forgotten', () => {
    const { retries } = setUp()
    retries.note('1', 'unanswered')
    retries.note('1', 'refused', { sentence: 'Error 503.' })
    expect(retries.setbackOf('1')).toBe('Error 503.')
    retries.forget('1')
    expect(retries.setbackOf('1')).toBeNull()
    expect([retries.isRetry('1'), retries.waitMs('1')]).toEqual([false, 0])
  })
})
