import type { CommandProducer } from '@wagate/queue/command-producer'
import type { Command } from '@wagate/shared/commands'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeCommandDispatcher } from '../src/devices/command-dispatcher.ts'

const restMs = 50
const send = (deviceId: number): Command => ({ kind: 'send', deviceId })

/** Records each batch with its time. A batch takes `tookMs`. */
function makeDispatcher({ tookMs = 0 }) {
  const placed: { atMs: number; devices: number[] }[] = []
  const startedMs = Date.now()
  const producer: CommandProducer = {
    async add(commands) {
      placed.push({ atMs: Date.now() - startedMs, devices: commands.map(({ deviceId }) => deviceId) })
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs))
    },
  }
  return { placed, ...makeCommandDispatcher(producer, () => undefined) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('enqueues the first command of a device at once and coalesces those that follow', async () => {
  const { enqueue, placed } = makeDispatcher({})
  for (let count = 0; count < 3; count++) {
    enqueue(send(1))
    await vi.advanceTimersByTimeAsync(10)
  }
  await vi.advanceTimersByTimeAsync(10 * restMs)
  expect(placed).toEqual([
    { atMs: 0, devices: [1] },
    { atMs: restMs, devices: [1] },
  ])
})

test('delays no device for another, and none after its own window', async () => {
  const { enqueue, placed } = makeDispatcher({})
  enqueue(send(1))
  await vi.advanceTimersByTimeAsync(10)
  enqueue(send(2))
  await vi.advanceTimersByTimeAsync(restMs)
  enqueue(send(1))
  await vi.advanceTimersByTimeAsync(10 * restMs)
  expect(placed).toEqual([
    { atMs: 0, devices: [1] },
    { atMs: 10, devices: [2] },
    { atMs: restMs + 10, devices: [1] },
  ])
})

test('batches the commands that arrive while Redis is slow', async () => {
  const { enqueue, placed } = makeDispatcher({ tookMs: 2000 })
  for (const deviceId of [1, 2, 3]) enqueue(send(deviceId))
  await vi.advanceTimersByTimeAsync(2000)
  expect(placed.map(({ devices }) => devices)).toEqual([[1], [2, 3]])
})

test('finish enqueues the held-back commands and waits for them', async () => {
  const { enqueue, placed, finish } = makeDispatcher({ tookMs: 5 })
  enqueue(send(1))
  enqueue(send(1))
  let isFinished = false
  void finish().then(() => {
    isFinished = true
  })
  await vi.advanceTimersByTimeAsync(9)
  expect([placed.length, isFinished]).toEqual([2, false])
  await vi.advanceTimersByTimeAsync(1)
  expect(isFinished).toBe(true)
})
