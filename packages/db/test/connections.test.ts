import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { pauseProcess } from '@wagate/test-kit/pause-process'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { databaseFailure, isOutage } from '../src/failures.ts'

let directUrl: string
let proxy: TcpProxy
let db: Database
let drop: () => Promise<void>
beforeAll(async () => {
  const database = await createTestDatabase()
  drop = database.drop
  directUrl = database.url
  proxy = await startTcpProxy(database.url)
  db = openDatabase(proxy.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 1000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await proxy.close()
  await drop()
})

const ask = (n: number) => db.$client`SELECT ${n}::int AS n`

test('does not run the rest of a transaction after its connection was lost', async () => {
  const single = openDatabase(proxy.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000 })
  const sql = single.$client
  await sql`CREATE TABLE IF NOT EXISTS leftovers (n int)`
  const failure = await sql
    .begin(async (lost) => {
      await lost`INSERT INTO leftovers VALUES (1)`
      proxy.cut()
      proxy.heal()
      // Another query uses the pool's only connection by now.
      while (!(await sql`SELECT 1`.catch(() => undefined))) await turn()
      await lost`INSERT INTO leftovers VALUES (2)`
    })
    .catch((error: unknown) => error)
  expect(databaseFailure(failure)).toBe('unavailable')
  await turn()
  expect(await sql`SELECT n FROM leftovers`).toEqual([])
  await closeDatabase(single)
})

test('does not mix rows of a failed result into the next one', async () => {
  const single = openDatabase(proxy.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000 })
  const sql = single.$client
  // Postgres sends rows in pieces of 8 kB before the division by zero.
  await sql`SELECT repeat('x', 5000), 1 / (5 - n) FROM generate_series(1, 6) AS n`.catch(() => undefined)
  expect([...(await sql`SELECT generate_series(1, 3) AS n`)]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  await closeDatabase(single)
})

// They wait for seconds, each with connections of its own.
describe.concurrent('a connection', () => {
  test('recovers at once from connections that are reset while a query is written', async () => {
    const reset = await startTcpProxy(directUrl)
    const pool = openDatabase(reset.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 1000 })
    const ask = (n: number) => pool.$client`SELECT ${n}::int AS n`
    const startedAt = performance.now()
    for (let round = 0; round < 12; round++) {
      await Promise.all([ask(1), ask(2), ask(3)])
      reset.cut()
      reset.heal()
      for (let turns = round % 4; turns > 0; turns--) await turn()
      const outcomes = await Promise.allSettled([ask(4), ask(5), ask(6)])
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(databaseFailure(outcome.reason)).toBe('unavailable')
      }
      // Every connection of the pool answers further queries.
      for (let attempt = 0; ; attempt++) {
        const again = await Promise.allSettled([ask(7), ask(8), ask(9)])
        if (again.every(({ status }) => status === 'fulfilled')) break
        expect(attempt).toBeLessThan(5)
      }
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    await closeDatabase(pool)
    await reset.close()
  })

  test('a silent partition ends a query within 7 seconds, and the pool heals', async () => {
    await ask(1)
    proxy.freeze()
    const { result: failure, awakeMs } = await timeAwake(() => ask(2).catch((error: unknown) => error))
    expect(databaseFailure(failure)).toBe('unavailable')
    expect(awakeMs).toBeLessThan(7000)
    proxy.cut()
    proxy.heal()
    await Promise.allSettled([ask(3), ask(4), ask(5)])
    expect(await ask(6)).toMatchObject([{ n: 6 }])
  })

  test('a query is answered when its connection was last used 6 seconds ago, and after a pause of the process', async () => {
    // Not through the proxy, which runs in this process.
    const single = openDatabase(directUrl, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000 })
    const sql = single.$client
    await sql`SELECT 1`
    const usedAt = performance.now()
    await delay(5900)
    // postgres.js writes the query in the next turn, after the timers of that turn.
    await turn()
    pauseProcess(usedAt + 6100 - performance.now())
    expect(await sql`SELECT 2 AS n`).toEqual([{ n: 2 }])

    await closeDatabase(single)
    const soon = openDatabase(directUrl, {
      poolSize: 1,
      applicationName: 'test',
      statementTimeoutMs: 1000,
      silenceMs: 1500,
    })
    await soon.$client`SELECT 1`
    const answer = soon.$client`SELECT 3 AS n`.execute()
    for (let turns = 0; turns < 3; turns++) await turn()
    pauseProcess(1600)
    expect(await answer).toEqual([{ n: 3 }])
    await closeDatabase(soon)
  })
})

test('a refused connection and a slow statement are outages, and a wrong statement is none', async () => {
  proxy.cut()
  const closed = openDatabase(proxy.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000 })
  const refused = await closed.$client`SELECT 1`.catch((error: unknown) => error)
  proxy.heal()
  await closeDatabase(closed)
  expect([databaseFailure(refused), isOutage(refused)]).toEqual(['unavailable', true])
  await Promise.allSettled([ask(1), ask(2), ask(3)])
  const slow = await db.$client`SELECT pg_sleep(3)`.catch((error: unknown) => error)
  expect([databaseFailure(slow), isOutage(slow)]).toEqual(['unavailable', true])
  const wrong = await db.$client`SELECT nothing`.catch((error: unknown) => error)
  expect([databaseFailure(wrong), isOutage(wrong)]).toEqual(['unavailable', false])
})

test('uses the most recently used connection, so that idle ones can close', async () => {
  const pool = openDatabase(proxy.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 1000 })
  const findPid = async (waitSeconds: number) => {
    const [row] = await pool.$client`SELECT pg_backend_pid() AS pid FROM pg_sleep(${waitSeconds})`
    return row?.pid
  }
  expect(new Set(await Promise.all([findPid(0.1), findPid(0.1), findPid(0.1)])).size).toBe(3)
  const last = await findPid(0)
  for (let times = 0; times < 5; times++) expect(await findPid(0)).toBe(last)
  await closeDatabase(pool)
})

test('generic plans are made once for a connection, unless prepared statements are disabled', async () => {
  const findPlans = async (url: string, plans?: 'generic') => {
    const options = { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000 }
    const single = openDatabase(url, { ...options, ...(plans && { plans }) })
    for (const n of [1, 2, 3]) await single.$client`SELECT ${n}::int AS planned`
    const [found] = await single.$client`
      SELECT generic_plans::int AS generic, custom_plans::int AS custom
      FROM pg_prepared_statements WHERE statement LIKE '%planned'`
    const [setting] = await single.$client`SHOW plan_cache_mode`
    await closeDatabase(single)
    return { ...found, mode: setting?.plan_cache_mode }
  }
  expect(await findPlans(proxy.url)).toEqual({ generic: 0, custom: 3, mode: 'auto' })
  expect(await findPlans(proxy.url, 'generic')).toEqual({ generic: 3, custom: 0, mode: 'force_generic_plan' })
  // pgbouncer refuses a setting that it does not know.
  expect(await findPlans(`${proxy.url}?prepare=false`, 'generic')).toEqual({ mode: 'auto' })
})
