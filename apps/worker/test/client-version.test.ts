import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import type { Logger } from '@wagate/runtime/logger'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { DEFAULT_CONNECTION_CONFIG } from 'baileys'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  bundledPublished,
  bundledVersion,
  startClientVersion,
} from '../src/session/network/client-version.ts'

const [, , bundledRevision] = DEFAULT_CONNECTION_CONFIG.version
const ahead = (revisions: number) => `2.3000.${bundledRevision + revisions}`
let server: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database
let logged: { level: 'info' | 'warn'; text: string; fields: Record<string, unknown> }[]
let reads: number

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 4000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})
beforeEach(async () => {
  logged = []
  reads = 0
  await db.$client`DELETE FROM client_versions`
  await makeDue()
})

const makeDue = () => db.$client`UPDATE installation SET client_version_due_at = now()`
const makeOlder = (days: number) => db.$client`
  UPDATE client_versions
  SET read_at = read_at - ${days} * interval '1 day', first_used_at = first_used_at - ${days} * interval '1 day'`

type Served = string | Error | ((signal: AbortSignal) => string | Promise<string>)

/** A worker that finds the served version, or an error in its place. */
async function start(served: Served, setting = 'auto') {
  const log =
    (level: 'info' | 'warn') =>
    (fields: Record<string, unknown>, text = '') =>
      void logged.push({ level, text, fields })
  const worker = await startClientVersion(setting, {
    db,
    logger: { info: log('info'), warn: log('warn') } as unknown as Logger,
    async readServed(signal) {
      reads += 1
      if (served instanceof Error) throw served
      return typeof served === 'string' ? served : served(signal)
    },
    pollMs: 20,
  })
  onTestFinished(worker.close)
  return worker
}
async function ageOfNewest(): Promise<string> {
  const [row] = await db.$client`
    SELECT read_at > now() - interval '1 hour' AS "isNew" FROM client_versions WHERE version = ${ahead(9)}`
  return row?.isNew ? 'now' : 'before'
}
const warnings = () => logged.filter(({ level }) => level === 'warn').map(({ text }) => text)

test('the day of the bundled version is that of the installed Baileys', () => {
  expect(bundledPublished.version).toBe(bundledVersion)
})

test('the version is read before the first login, by one worker for all', async () => {
  const [first, second] = await Promise.all([start(ahead(5)), start(ahead(5))])
  await expect.poll(() => [first.current(), second.current()]).toEqual([ahead(5), ahead(5)])
  expect(reads).toBe(1)
  expect((await start(new Error('unreachable'))).current()).toBe(ahead(5))
  expect(reads).toBe(1)
  expect(first.ageDays()).toBeLessThan(0.01)
  expect(warnings()).toEqual([])
})

test('a running worker uses what another one has read', async () => {
  const running = await start(ahead(5))
  await makeDue()
  await start(ahead(9))
  await expect.poll(running.current).toBe(ahead(9))
})

test('it is never lowered: neither by the page, nor by an older Baileys, nor by what is stored', async () => {
  const served = [ahead(9), ahead(5), ahead(-1_000_000)]
  const worker = await start(() => served.shift() ?? ahead(1))
  for (const left of [1, 0]) {
    await makeOlder(3)
    await makeDue()
    await expect.poll(() => served.length).toBe(left)
    await expect.poll(ageOfNewest).toBe('now')
    expect(worker.current()).toBe(ahead(9))
  }
  await db.$client`DELETE FROM client_versions`
  await db.$client`INSERT INTO client_versions (version, read_at) VALUES (${ahead(-7)}, now())`
  expect((await start(new Error('unreachable'))).current()).toBe(bundledVersion)
})

test('without the page, the last one that was read is used, or that of Baileys, and a warning says so', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(bundledPublished.day) + 100 * 86_400_000 })
  onTestFinished(() => void vi.useRealTimers())
  const worker = await start(new Error('unreachable'))
  expect(worker.current()).toBe(bundledVersion)
  expect(worker.ageDays()).toBe(100)
  expect(warnings()).toEqual([
    expect.stringContaining('Could not read the version'),
    expect.stringContaining('is old'),
  ])
  await makeDue()
  await start(ahead(3))
  await makeDue()
  await makeOlder(2)
  const later = await start(new Error('unreachable'))
  expect(later.current()).toBe(ahead(3))
  expect(later.ageDays()).toBeCloseTo(2, 1)
})

test('a version that cannot be right is neither used nor stored', async () => {
  const worker = await start(ahead(200_000_000))
  expect(worker.current()).toBe(bundledVersion)
  expect(logged[0]?.fields.err).toMatchObject({ message: expect.stringContaining('cannot be') })
  expect(await db.$client`SELECT FROM client_versions`).toHaveLength(0)
})

test('it is read again when WhatsApp refuses it', async () => {
  const served = [ahead(1), ahead(2)]
  const worker = await start(() => served.shift() ?? ahead(3))
  await makeOlder(1)
  worker.doubt()
  await expect.poll(worker.current).toBe(ahead(2))
  // At once after that, there is nothing newer to be had.
  await makeOlder(1)
  worker.doubt()
  worker.doubt()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(reads).toBe(2)
})

test('a version of the operator is used as it is, and its age counts from its first use', async () => {
  const worker = await start(ahead(9), ahead(-5))
  expect([worker.current(), reads]).toEqual([ahead(-5), 0])
  expect(worker.ageDays()).toBeLessThan(0.01)
  await makeOlder(31)
  const later = await start(ahead(9), ahead(-5))
  worker.doubt()
  expect(later.ageDays()).toBeCloseTo(31, 1)
  expect([later.current(), reads]).toEqual([ahead(-5), 0])
  expect(warnings()).toEqual([expect.stringContaining('is old')])
})

test('the bundled one is used without a request', async () => {
  const worker = await start(ahead(9), 'bundled')
  expect([worker.current(), reads]).toEqual([bundledVersion, 0])
})

test('a worker that stops gives up what it is reading', async () => {
  let given: AbortSignal | undefined
  const worker = await start((signal) => {
    given = signal
    if (reads === 1) return ahead(1)
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  await makeDue()
  await expect.poll(() => reads).toBe(2)
  await worker.close()
  expect(given?.aborted).toBe(true)
})
