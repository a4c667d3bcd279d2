import { statSync } from 'node:fs'
import { Socket } from 'node:net'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { serverPorts } from '../servers/test-run.ts'
import { eventually } from '../until.ts'
import { keptProcesses } from './kept-processes.ts'
import { realGlobals } from './real-globals.ts'

/** Runs around every test file: files share a process, so what one leaves behind would reach the next. */

/** libvips sets it in the process that loads it first. */
const setByLibraries = ['VIPSHOME']
const events = ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'message', 'disconnect']

let before: ReturnType<typeof readState>
beforeAll(() => {
  expect(listReplacedGlobals(), 'an earlier file left replaced globals behind').toEqual([])
  before = readState()
})
afterAll(async () => {
  // Node 20 imports through unresolved links while the last file that was examined is a pipe or a socket.
  statSync('.')
  const { setTimeout, clearTimeout, setInterval, clearInterval, performanceNow } = realGlobals
  const replaced = listReplacedGlobals()
  // What waits below needs real ones.
  vi.useRealTimers()
  Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval })
  performance.now = performanceNow
  expect(replaced, 'this file leaves replaced globals behind in its process').toEqual([])
  // What was closed is gone a moment later.
  await vi.waitFor(() => {
    expect(readState(), 'this file leaves something behind in its process').toEqual(before)
  }, eventually)
})

function listReplacedGlobals(): string[] {
  const globalOf = (name: string) =>
    name === 'performanceNow' ? performance.now : Reflect.get(globalThis, name)
  return Object.entries(realGlobals).flatMap(([name, real]) => (globalOf(name) === real ? [] : [name]))
}

function readState() {
  return {
    environment: Object.entries(process.env)
      .filter(([name]) => !setByLibraries.includes(name))
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
    listeners: events.map((event) => `${event}: ${process.listenerCount(event)}`),
    folder: process.cwd(),
    servers: countHandles('TCPServerWrap'),
    connections: countServerConnections(),
    processes: countHandles('ProcessWrap') - countKept(),
  }
}

function countHandles(kind: string): number {
  return process.getActiveResourcesInfo().filter((one) => one === kind).length
}

/** To Postgres and Redis, which take a limited number. Others close by themselves when they are idle. */
function countServerConnections(): number {
  const ports = serverPorts()
  const handles: unknown[] = Reflect.get(process, '_getActiveHandles').call(process)
  return handles.filter((handle) => handle instanceof Socket && ports.includes(handle.remotePort ?? 0)).length
}

function countKept(): number {
  return [...keptProcesses.values()].reduce((sum, number) => sum + number, 0)
}
