import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { WASocket } from 'baileys'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepAlive } from '../src/session/connection/keep-alive.ts'

const opened: { stop(): void }[] = []

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => {
  for (const { stop } of opened.splice(0)) stop()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const periodMs = 10_000
const answerMs = 4000
const stanza = { tag: 'success', attrs: {} }

/** A socket that has heard the handshake, and a stanza if it is ready. */
function connect({ isReady = true, answers = true } = {}) {
  const ws = new EventEmitter()
  const hear = () => ws.emit('frame', stanza)
  const sendNode = vi.fn(async (_stanza: unknown) => {
    if (answers) queueMicrotask(hear)
  })
  const onSilence = vi.fn()
  const sock = { ws, sendNode, generateMessageTag: () => '1' } as unknown as WASocket
  const { stop } = keepAlive(sock, periodMs, onSilence)
  opened.push({ stop })
  ws.emit('frame', new Uint8Array(1))
  if (isReady) hear()
  return { ws, hear, sendNode, onSilence, stop }
}

/** A second at a time, each with a turn of the event loop. */
async function advance(ms: number): Promise<void> {
  for (let rest = ms; rest > 0; rest -= 1000) {
    await vi.advanceTimersByTimeAsync(Math.min(rest, 1000))
    await turn()
    await turn()
  }
}

test('WhatsApp is pinged once in each period, and a connection that answers is kept', async () => {
  const { sendNode, onSilence } = connect()
  await advance(periodMs + 1000)
  expect(sendNode).toHaveBeenCalledTimes(1)
  expect(sendNode).toHaveBeenCalledWith({
    tag: 'iq',
    attrs: { id: '1', to: '@s.whatsapp.net', type: 'get', xmlns: 'w:p' },
    content: [{ tag: 'ping', attrs: {} }],
  })
  await advance(9 * periodMs)
  expect(sendNode).toHaveBeenCalledTimes(10)
  expect(onSilence).not.toHaveBeenCalled()
})

test('a connection without an answer is given up once, after a period and 4 seconds, and others are kept', async () => {
  const [silent, heard] = [connect({ answers: false }), connect()]
  await advance(periodMs + answerMs)
  expect(silent.onSilence).not.toHaveBeenCalled()
  await advance(1000)
  expect(silent.onSilence).toHaveBeenCalledTimes(1)
  await advance(10 * periodMs)
  expect(silent.onSilence).toHaveBeenCalledTimes(1)
  expect(silent.sendNode).toHaveBeenCalledTimes(1)
  expect(heard.onSilence).not.toHaveBeenCalled()
})

test('anything that is heard counts as an answer, and nothing is pinged once it was stopped', async () => {
  const connection = connect({ answers: false })
  for (let second = 0; second < 50; second++) {
    await advance(1000)
    connection.hear()
  }
  expect(connection.onSilence).not.toHaveBeenCalled()
  const pings = connection.sendNode.mock.calls.length
  connection.stop()
  await advance(2 * periodMs)
  expect(connection.sendNode).toHaveBeenCalledTimes(pings)
  expect(connection.onSilence).not.toHaveBeenCalled()
})

test('nothing is sent before the handshake has ended, which may take a period and 4 seconds', async () => {
  const { ws, sendNode, onSilence } = connect({ isReady: false })
  await advance(periodMs)
  ws.emit('frame', new Uint8Array(1))
  await advance(periodMs + answerMs)
  expect(onSilence).not.toHaveBeenCalled()
  await advance(1000)
  expect(onSilence).toHaveBeenCalledTimes(1)
  expect(sendNode).not.toHaveBeenCalled()
})

test('connections are pinged in groups, so that the process wakes less than once a second, and not all at the same time', async () => {
  const connections = []
  for (let count = 0; count < 100; count++) {
    connections.push(connect())
    await vi.advanceTimersByTimeAsync(periodMs / 100)
  }
  await advance(periodMs)
  const fake = globalThis.setTimeout
  let wakes = 0
  Object.assign(globalThis, {
    setTimeout(...given: Parameters<typeof fake>) {
      wakes += 1
      return fake(...given)
    },
  })
  const before = connections.map(({ sendNode }) => sendNode.mock.calls.length)
  await advance(10 * periodMs)
  Object.assign(globalThis, { setTimeout: fake })
  expect(wakes).toBeGreaterThan(10)
  expect(wakes).toBeLessThan(100)
  const pings = connections.map(({ sendNode }, index) => sendNode.mock.calls.length - (before[index] ?? 0))
  expect(new Set(pings)).toEqual(new Set([10]))
})

test('the event loop has a turn after every 32 pings', async () => {
  const connections = Array.from({ length: 100 }, () => connect())
  vi.advanceTimersByTime(periodMs + 1)
  const countPinged = () => connections.filter(({ sendNode }) => sendNode.mock.calls.length > 0).length
  await turn()
  expect(countPinged()).toBe(32)
  await turn()
  expect(countPinged()).toBe(64)
  await advance(1000)
  expect(countPinged()).toBe(100)
})

test('after a pause of the process, connections are given time for the frames that have not been read', async () => {
  const { onSilence } = connect({ answers: false })
  await advance(periodMs)
  const now = vi.spyOn(performance, 'now')
  now.mockReturnValue(performance.now() + 60_000)
  await advance(answerMs)
  expect(onSilence).not.toHaveBeenCalled()
  now.mockRestore()
})

test('an answer that has arrived when its time ends is read before the connection would be given up', async () => {
  const { onSilence, hear } = connect({ answers: false })
  await advance(periodMs)
  // As the event loop does: the timers come before what was read.
  setImmediate(hear)
  vi.advanceTimersByTime(answerMs + 1)
  await turn()
  await turn()
  expect(onSilence).not.toHaveBeenCalled()
})
