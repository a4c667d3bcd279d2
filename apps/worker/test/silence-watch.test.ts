import { EventEmitter } from 'node:events'
import type { WASocket } from 'baileys'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchSilence } from '../src/session/silence-watch.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const keepAliveMs = 10_000
const silentMs = 14_000

function connect() {
  const ws = new EventEmitter()
  const onSilence = vi.fn()
  const { stop } = watchSilence({ ws } as unknown as Pick<WASocket, 'ws'>, keepAliveMs, onSilence)
  return { hear: () => ws.emit('frame'), onSilence, stop }
}

test('a silent connection is reported once, on time, and others that are heard are not', async () => {
  const [silent, heard] = [connect(), connect()]
  await vi.advanceTimersByTimeAsync(5000)
  heard.hear()
  await vi.advanceTimersByTimeAsync(silentMs - 5000 - 1)
  expect(silent.onSilence).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(silent.onSilence).toHaveBeenCalledTimes(1)
  expect(heard.onSilence).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(5000)
  expect(heard.onSilence).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(10 * silentMs)
  expect(silent.onSilence).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('a connection that was opened later is reported in its turn, and not after it was stopped', async () => {
  const first = connect()
  await vi.advanceTimersByTimeAsync(1000)
  const [second, stopped] = [connect(), connect()]
  first.stop()
  stopped.stop()
  await vi.advanceTimersByTimeAsync(silentMs)
  expect(first.onSilence).not.toHaveBeenCalled()
  expect(stopped.onSilence).not.toHaveBeenCalled()
  expect(second.onSilence).toHaveBeenCalledTimes(1)
})

test('connections that are heard every few seconds wake the process far less than once a second', async () => {
  const connections = Array.from({ length: 24 }, connect)
  const wake = vi.spyOn(globalThis, 'setTimeout')
  for (let second = 0; second < 100; second++) {
    connections.filter((_, index) => (index + second) % 10 === 0).forEach(({ hear }) => void hear())
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(wake.mock.calls.length).toBeLessThan(30)
  for (const { onSilence, stop } of connections) {
    expect(onSilence).not.toHaveBeenCalled()
    stop()
  }
  wake.mockRestore()
  expect(vi.getTimerCount()).toBe(0)
})

test('after a pause of the process, connections are given time for the frames that have not been read', async () => {
  const { onSilence, stop } = connect()
  const now = vi.spyOn(performance, 'now')
  now.mockReturnValue(performance.now() + 60_000)
  await vi.advanceTimersByTimeAsync(silentMs)
  expect(onSilence).not.toHaveBeenCalled()
  now.mockRestore()
  stop()
})
