import { join } from 'node:path'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { askRedis } from '../src/ask-redis.ts'
import { findRedis } from '../src/find-redis.ts'
import { startPostgres } from '../src/postgres.ts'
import { startRedis } from '../src/redis.ts'
import { vendorFolder } from '../src/vendor-folder.ts'

test('Postgres keeps its data and its address from one start to the next', async () => {
  const folder = temporaryFolder()
  const options = { folder: join(folder, 'postgres'), logFile: join(folder, 'log'), durable: true }
  const first = await startPostgres(options)
  await query(first.url, 'CREATE TABLE kept (id int)')
  await first.stop()
  const second = await startPostgres(options)
  expect(second.url).toBe(first.url)
  expect(await query(second.url, 'SELECT count(*)::int AS count FROM kept')).toEqual([{ count: 0 }])
  await second.stop()
  await second.stop()
})

test('Postgres ends one that an earlier run left behind', async () => {
  const folder = temporaryFolder()
  const options = { folder: join(folder, 'postgres'), logFile: join(folder, 'log'), durable: false }
  const left = await startPostgres(options)
  const next = await startPostgres(options)
  expect(left.process.hasExited()).toBe(true)
  await next.stop()
})

test('Redis never evicts, keeps what it acknowledged, and is found again after a kill', async () => {
  const folder = temporaryFolder()
  const search = { vendorFolder, report: () => undefined, signal: new AbortController().signal }
  const program = await findRedis(search)
  const options = { folder: join(folder, 'redis'), logFile: join(folder, 'log'), durable: true, program }
  const first = await startRedis(options)
  await askRedis(new URL(first.url), [
    ['CONFIG', 'SET', 'appendfsync', 'always'],
    ['SET', 'key', 'value'],
  ])
  first.process.signal('SIGKILL')
  await first.process.exited
  const second = await startRedis(options)
  expect(second.url).toBe(first.url)
  expect(await askRedis(new URL(second.url), [['EXISTS', 'key']])).toEqual([':1'])
  expect(await askRedis(new URL(second.url), [['SELECT', '255']])).toEqual(['+OK'])
  await second.stop()
})

async function query(url: string, text: string) {
  const sql = postgres(url, { max: 1 })
  const rows = await sql.unsafe(text)
  await sql.end()
  return [...rows]
}
