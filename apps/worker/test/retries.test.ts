import type { Setback } from '@wagate/shared/timeline-marks'
import { describe, expect, test } from 'vitest'
import { makeRetries } from '../src/outbox/retries.ts'

function setUp() {
  let nowMs = 0
  const retries = makeRetries({ nowMs: () => nowMs, random: () => 0 })
  return {
    retries,
    pass: (ms: number) => {
      nowMs += ms
    },
    pausesAfter(setback: Setback, times: number): number[] {
      return Array.from({ length: times }, () => {
        retries.note({ id: '1' }, setback)
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
    for (let ends = 0; ends < 20; ends++) retries.note({ id: '1' }, 'stream_ended', { isBlamed: false })
    expect(retries.isHopeless('1')).toBe(false)
    for (let ends = 0; ends < 4; ends++) retries.note({ id: '1' }, 'stream_ended', { isBlamed: true })
    expect(retries.isHopeless('1')).toBe(false)
    retries.note({ id: '1' }, 'stream_ended', { isBlamed: true })
    expect(retries.isHopeless('1')).toBe(true)
  })

  test('never gives up a message for connections that the network ended', () => {
    const { retries } = setUp()
    for (let ends = 0; ends < 50; ends++) retries.note({ id: '1' }, 'disconnected', { isBlamed: true })
    expect(retries.isHopeless('1')).toBe(false)
    expect(retries.streamEnds('1')).toBe(0)
  })

  test('keeps the last setback of a message until it is forgotten', () => {
    const { retries } = setUp()
    retries.note({ id: '1' }, 'unanswered')
    retries.note({ id: '1' }, 'refused', { sentence: 'Error 503.' })
    expect(retries.setbackOf('1')).toBe('Error 503.')
    retries.forget('1')
    expect(retries.setbackOf('1')).toBeNull()
    expect([retries.isRetry('1'), retries.waitMs('1')]).toEqual([false, 0])
  })

  test.each([
    ['unprepared', 5000],
    ['send_failed', 5000],
    ['refused', 5000],
    ['unanswered', 5000],
    ['disconnected', 0],
    ['stream_ended', 0],
  ] as const)('a message that was %s is failing for %i ms after five seconds', (setback, expected) => {
    const { retries, pass } = setUp()
    retries.note({ id: '1' }, setback)
    pass(5000)
    retries.note({ id: '1' }, setback)
    expect(retries.failingMs({ id: '1' })).toBe(expected)
    retries.forget('1')
    expect(retries.failingMs({ id: '1' })).toBe(0)
  })

  test('the next owner goes on counting', () => {
    const { retries, pass } = setUp()
    const message = { id: '1', failingMs: 60_000 }
    expect(retries.failingMs(message)).toBe(60_000)
    retries.note(message, 'unprepared')
    pass(1000)
    expect(retries.failingMs(message)).toBe(61_000)
  })

  test('a pause is no longer than it may be, whatever the host says', () => {
    const { retries } = setUp()
    expect(retries.note({ id: '1' }, 'unprepared', { leastMs: 600_000, mostMs: 7000 }).pauseMs).toBe(7000)
    expect(retries.waitMs('1')).toBe(7000)
  })
})
