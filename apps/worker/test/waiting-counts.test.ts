import type { WaitingReason } from '@wagate/shared/waiting-reasons'
import { expect, test } from 'vitest'
import type { OutboxWaits } from '../src/outbox/outbox-waits.ts'
import { makeWaitingCounts } from '../src/shards/waiting-counts.ts'

const rest: WaitingReason = 'pace'
const device = (id: number, waitingMs: number | null = 1000) => ({ id, shard: 0, waitingMs })

function open(outboxes: Record<number, OutboxWaits>, due: Record<number, number> = {}) {
  const time = { nowMs: 0 }
  const asked: number[][] = []
  const counts = makeWaitingCounts(
    async (ids) => {
      asked.push(ids)
      return ids.map((id) => ({ id, due: due[id] ?? 0 }))
    },
    ({ id }) => outboxes[id],
    () => time.nowMs,
  )
  return { counts, asked, time, reasons: () => Object.fromEntries(counts.read().messages) }
}

test('what outboxes have read counts by its reasons, and Postgres is not asked for it', async () => {
  const { counts, asked, reasons } = open({
    1: { read: ['file', 'earlier_message'], hasReadAll: true, rest },
  })
  await counts.update([device(1)])
  expect([reasons(), asked]).toEqual([{ file: 1, earlier_message: 1 }, []])
})

test('of what no outbox has read there is one reason, and a device that is not connected has another', async () => {
  const { counts, reasons } = open(
    { 1: { read: ['retry', 'pace'], hasReadAll: false, rest: 'daily_cap' } },
    { 1: 100, 2: 7 },
  )
  await counts.update([device(1), device(2)])
  expect(reasons()).toEqual({ retry: 1, pace: 1, daily_cap: 98, sender_disconnected: 7 })
})

test('of many devices, fifty are counted at a time, and all in turn', async () => {
  const { counts, asked } = open({})
  const devices = Array.from({ length: 120 }, (_, id) => device(id))
  for (let polls = 0; polls < 3; polls++) await counts.update(devices)
  expect(asked.map(({ length }) => length)).toEqual([50, 50, 50])
  expect(new Set(asked.flat()).size).toBe(120)
})

test('the oldest message ages between polls, and nothing is left when nothing waits', async () => {
  const { counts, time, reasons } = open({})
  await counts.update([device(1, 5000), device(2, 9000), device(3, null)])
  time.nowMs += 2000
  expect(counts.read().oldestMs).toBe(11_000)
  await counts.update([])
  expect([counts.read().oldestMs, reasons()]).toEqual([0, {}])
})
