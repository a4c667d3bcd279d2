import { afterAll, beforeAll, expect, vi } from 'vitest'
import { eventually } from '../until.ts'
import { keptProcesses } from './kept-processes.ts'

/** Runs around every test file: files share a process, so what one leaves behind would reach the next. */

type State = Record<string, string[]>

const globals = ['fetch', 'Date', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] as const
const realGlobals = new Map(globals.map((name) => [name, globalThis[name]]))
const realNow = performance.now
const events = ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'message', 'disconnect']

let before: State
beforeAll(() => {
  before = readState()
})
afterAll(async () => {
  const isFake = vi.isFakeTimers()
  vi.useRealTimers()
  expect(isFake, 'this file leaves fake timers behind').toBe(false)
  // What was closed is gone a moment later.
  await vi.waitFor(() => {
    expect(readState(), 'this file leaves something behind in its process').toEqual(before)
  }, eventually)
})

function readState(): State {
  return {
    environment: Object.entries(process.env)
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
    globals: globals.filter((name) => globalThis[name] !== realGlobals.get(name)),
    clock: performance.now === realNow ? [] : ['performance.now'],
    listeners: events.map((event) => `${event}: ${process.listenerCount(event)}`),
    folder: [process.cwd()],
    handles: [`${count('TCPServerWrap')} listening`, `${count('TCPSocketWrap')} connections`, `${count('ProcessWrap') - countKept()} processes`],
  }
}

function count(kind: string): number {
  return process.getActiveResourcesInfo().filter((one) => one === kind).length
}

function countKept(): number {
  return [...keptProcesses.values()].reduce((sum, number) => sum + number, 0)
}
