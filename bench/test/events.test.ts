import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CostRound } from '../src/events/costs.ts'
import type { LatencyRound } from '../src/events/latencies.ts'
import { makeEventsReport } from '../src/events/report.ts'
import { type Group, groups } from '../src/process-meter.ts'
import { openWebhookTarget, type WebhookTarget } from '../src/subscribers/webhook-target.ts'

let target: WebhookTarget
beforeAll(async () => {
  target = await openWebhookTarget('healthy')
})
afterAll(() => target.close())

const usagesOf = (cpuMs: number) =>
  Object.fromEntries(
    groups.map((group) => [group, { cpuMs, rssMb: { atStart: 0, peak: 0, atEnd: 0 } }]),
  ) as Record<Group, CostRound['usages'][Group]>

const cost = (way: CostRound['way'], ms: number, cpuMs: number): CostRound => ({
  work: 'send',
  way,
  messages: 100,
  ms,
  usages: usagesOf(cpuMs),
  walBytes: 50_000,
})

const latency = (events: number, delivered: number): LatencyRound => ({
  beside: 'nothing',
  events,
  delivered,
  waitMs: { p50: 1, p99: 2, max: 3 },
  usages: usagesOf(100),
})

it('compares the medians of the rounds with those without a subscriber', () => {
  const costs = [
    ...[900, 1000, 5000].map((ms) => cost('no subscriber', ms, 50)),
    ...[2000, 1900, 2100].map((ms) => cost('webhook', ms, 60)),
  ]
  const { tables, failure } = makeEventsReport({ costs, latencies: [latency(10, 10)] })
  expect(tables[1]?.rows[0]).toMatchObject({
    beside: 'no subscriber',
    'msg/s': 100,
    'WAL bytes': 500,
    api: 0.5,
  })
  expect(tables[2]?.rows).toContainEqual({
    work: 'send',
    beside: 'webhook',
    'msg/s': 0.5,
    'CPU of the gateway': 1.2,
  })
  expect(failure).toBeUndefined()
})

it('fails a run in which an event did not reach the webhook', () => {
  expect(makeEventsReport({ costs: [], latencies: [latency(10, 9)] }).failure).toBeDefined()
})

const event = (id: string, text: string) => ({
  event_id: id,
  recorded_at: '2026-01-31T12:00:01.032Z',
  data: { message: { wa_message_id: `wa ${id}`, sender: '1', message: text } },
})

it('keeps the events of a webhook in the order of their first arrivals, and counts what comes again', async () => {
  const post = (body: unknown) => fetch(target.url, { method: 'POST', body: JSON.stringify(body) })
  await post({ events: [event('b', 'first'), event('a', 'second')] })
  await post(event('c', 'third'))
  await post({ events: [event('a', 'again'), event('d', 'fourth')] })
  expect(target.events.map(({ message }) => message?.text)).toEqual(['first', 'second', 'third', 'fourth'])
  expect(target.countRepeated()).toBe(1)
  expect(target.events[0]?.recordedAtMs).toBe(Date.parse('2026-01-31T12:00:01.032Z'))
})
