import type { CommandProducer } from '@wagate/queue/command-producer'
import type { Command } from '@wagate/shared/commands'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeCommandDispatcher } from '../src/devices/command-dispatcher.ts'

const restMs = 50
const send = (deviceId: number): Command => ({ kind: 'send', deviceId })

/** Keeps each batch and the moment of it, and is as slow as told. */
function makeDispatcher({ tookMs = 0 }) {
  const placed: { atMs: number; devices: number[] }[] = []
  const startedMs = Date.now()
  const producer: CommandProducer = {
    async add(commands) {
      placed.push({ atMs: Date.now() - startedMs, devices: commands.map(({ deviceId }) => deviceId) })
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs))
    },
    close: async () => undefined,
  }
  return { placed, ...makeCommandDispatcher(producer, () => undefined) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the first command of a device is placed at once, those that follow it together after a rest', async () => {
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

test('no device waits for the rest of another, and none after its own', async () => {
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

test('what comes while Redis is slow goes together', async () => {
  const { enqueue, placed } = makeDispatcher({ tookMs: 2000 })
  for (const deviceId of [1, 2, 3]) enqueue(send(deviceId))
  await vi.advanceTimersByTimeAsync(2000)
  expect(placed.map(({ devices }) => devices)).toEqual([[1], [2, 3]])
})

test('finish places what is held back, and waits for it', async () => {
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
