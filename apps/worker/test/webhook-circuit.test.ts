import { expect, test } from 'vitest'
import { Circuit } from '../src/webhooks/circuit.ts'
import { nextDelayMs, retryDelaysMs } from '../src/webhooks/retry-schedule.ts'

const limits = { failuresMax: 3, probeMinMs: 100, probeMaxMs: 300 }

test('after failures in a row it allows one probe at a time, with growing pauses', () => {
  const circuit = new Circuit(limits, false)
  for (let count = 0; count < 2; count++) circuit.fail(0)
  expect(circuit.allowanceAt(0)).toBe('all')
  circuit.fail(0)
  expect([99, 100].map((ms) => circuit.allowanceAt(ms))).toEqual(['none', 'one'])
  circuit.fail(100)
  expect([299, 300].map((ms) => circuit.allowanceAt(ms))).toEqual(['none', 'one'])
  circuit.fail(300)
  expect([599, 600].map((ms) => circuit.allowanceAt(ms))).toEqual(['none', 'one'])
  circuit.succeed()
  expect(circuit.allowanceAt(600)).toBe('all')
})

test('it waits as long as the target asks for, also before it is open', () => {
  const circuit = new Circuit(limits, false)
  circuit.fail(0, 5000)
  expect([4999, 5000].map((ms) => circuit.allowanceAt(ms))).toEqual(['none', 'all'])
})

test('with a target that has failed before, it begins with a probe', () => {
  expect(new Circuit(limits, true).allowanceAt(0)).toBe('one')
})

test.each([
  [1, 5000],
  [2, 300_000],
  [3, 1_800_000],
  [7, 36_000_000],
  [8, null],
])('after %s failed attempts the pause is %s ms', (attempts, delayMs) => {
  expect(nextDelayMs(retryDelaysMs, { attempts, retryAfterMs: undefined }, 0.5)).toBe(delayMs)
})

test('pauses differ by a tenth, and are not shorter than the target asks for', () => {
  const delayOf = (random: number, retryAfterMs?: number) =>
    nextDelayMs(retryDelaysMs, { attempts: 1, retryAfterMs }, random)
  expect([delayOf(0), delayOf(1), delayOf(0.5, 60_000)]).toEqual([4500, 5500, 60_000])
})
