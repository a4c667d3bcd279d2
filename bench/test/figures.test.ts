import { median, quantile, significant, spread } from '@wagate/test-kit/statistics'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureRecovery } from '../src/failover/recovery.ts'
import { summarizeProfile } from '../src/profile-summary.ts'
import { simulateMoves } from '../src/scaling/moves.ts'
import { trendOf } from '../src/soak/memory-trend.ts'
import { formatTable } from '../src/table.ts'

describe('statistics', () => {
  it('take the middle of an odd number of values and the mean of the two middle ones of an even number', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([1, 2, 10, 20])).toBe(6)
    expect(median([])).toBeNaN()
  })

  it('tell the value that a share of the values does not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(spread(hundred)).toEqual({ p50: 50, p99: 99, max: 100 })
    expect(quantile([7], 0.01)).toBe(7)
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, share) => {
          const found = quantile(values, share)
          expect(values).toContain(found)
          expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(
            share * values.length,
          )
        },
      ),
    )
  })

  it('keep the digits that mean something', () => {
    expect([1234.5, 12.34, 0.012_34, 0].map((value) => significant(value))).toEqual([1235, 12.3, 0.0123, 0])
  })
})

describe('a table', () => {
  it('lines up text on the left and numbers on the right, and shows what is missing as a dash', () => {
    const table = formatTable({
      title: 'Figures',
      rows: [{ way: 'a', ms: 5 }, { way: 'longer', ms: 1234 }, { way: 'c' }],
    })
    expect(table.split('\n')).toEqual([
      'Figures',
      'way       ms',
      '------  ----',
      'a          5',
      'longer  1234',
      'c          -',
    ])
  })
})

it('the trend of memory is that of all samples, and a peak on the way does not count for more', () => {
  const mebibyte = 2 ** 20
  const samples = Array.from({ length: 61 }, (_, minute) => ({
    atMs: minute * 60_000,
    bytes: (100 + minute / 10) * mebibyte,
  }))
  const trend = trendOf('api', samples)
  expect(trend).toMatchObject({ process: 'api', startMb: 100, endMb: 106, peakMb: 106 })
  expect(trend.percentPerTenMinutes).toBeCloseTo(100 / 103, 5)
  const peak = samples.map((sample, minute) =>
    minute === 30 ? { ...sample, bytes: 400 * mebibyte } : sample,
  )
  expect(trendOf('api', peak).percentPerTenMinutes).toBeLessThan(1)
})

describe('failover', () => {
  const message = (id: string, createdAtMs: number, sentAtMs: number | null, sender = '1') => ({
    id,
    waId: `wa-${id}`,
    sender,
    number: '9',
    body: id,
    status: 'sent',
    errorCode: null,
    createdAtMs,
    sentAtMs,
  })

  it('counts from the signal until a message that was accepted afterwards is sent, for each sender', () => {
    const fault = {
      way: 'SIGKILL, other worker',
      worker: 'worker-1',
      senders: ['1', '2'],
      at: 1000,
      endedAt: 1000,
      until: 9000,
    } as const
    const messages = [message('a', 500, 600), message('b', 900, 5000), message('c', 4900, 5100)]
    expect(measureRecovery(fault, messages)).toEqual({ nextSentMs: [4100], longestWaitMs: [4100], silent: 1 })
  })
})

it('attributes the samples of a profile to functions and their callers, idle time left out', () => {
  const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 })
  const [own, total] = summarizeProfile({
    nodes: [
      { id: 1, callFrame: frame('(root)'), children: [2, 4] },
      { id: 2, callFrame: frame('outer', '/x/apps/worker/src/a.ts'), children: [3] },
      { id: 3, callFrame: frame('inner', '/x/node_modules/ws/lib/b.js') },
      { id: 4, callFrame: frame('(idle)') },
    ],
    samples: [2, 3, 3, 4],
    timeDeltas: [1000, 1000, 2000, 9000],
  })
  expect(own).toContain('75   3  inner ws/lib/b.js:10')
  expect(total).toContain('100   4  outer apps/worker/src/a.ts:10')
})

describe('the model of many workers', () => {
  const setup = {
    workers: 20,
    shards: 160,
    senders: 1000,
    capacity: 500,
    tickMs: 500,
    heartbeatMs: 1000,
    leaseTtlMs: 6000,
    loginsPerSecond: 30,
    loginsPerSecondOfAll: 1000,
  }
  const signal = new AbortController().signal

  it('comes out the same each time, and moves no more senders than a worker had', () => {
    const rows = simulateMoves(setup, signal)
    expect(simulateMoves(setup, signal)).toEqual(rows)
    const logins = (what: string) => rows.find((row) => row.event === what)?.logins
    for (const what of ['one joins', 'one is stopped', 'one is killed', 'one is cut off'])
      expect(logins(what)).toBeLessThanOrEqual(1000 / 19 + 7)
    expect(logins('all start within 1 s')).toBeGreaterThanOrEqual(1000)
  })

  it('notices the end of a process before the end of a lease', () => {
    const away = (what: string) =>
      Number(simulateMoves(setup, signal).find((row) => row.event === what)?.['longest away s'])
    expect(away('one is stopped')).toBeLessThan(away('one is killed'))
    expect(away('one is killed')).toBeLessThan(away('one is cut off'))
  })
})
