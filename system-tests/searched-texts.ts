import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectForRequests, firstAttempt } from '@wagate/queue/redis'
import type postgres from 'postgres'
import type { SearchedText } from './secret-search.ts'

export function readLogs(dataFolder: string): SearchedText[] {
  const folder = join(dataFolder, 'logs')
  return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'latin1') }))
}

/** Every table, with its rows as text. */
export async function readTables(sql: postgres.Sql): Promise<SearchedText[]> {
  const names = await sql<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
  return Promise.all(
    names.map(async ({ name }) => {
      const rows = await sql.unsafe<{ row: string }[]>(`SELECT t::text AS row FROM ${name} AS t`)
      return { name, text: Buffer.from(rows.map(({ row }) => row).join('\n')).toString('latin1') }
    }),
  )
}

export async function openRedis(redisUrl: string) {
  const redis = connectForRequests(redisUrl, () => undefined)
  await firstAttempt(redis)
  return redis
}

/** Every key in Redis with its value, of any type. */
export async function readRedis(redisUrl: string): Promise<SearchedText[]> {
  const redis = await openRedis(redisUrl)
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.getBuffer(key),
    hash: (key) => redis.hgetallBuffer(key),
    list: (key) => redis.lrangeBuffer(key, 0, -1),
    set: (key) => redis.smembersBuffer(key),
    zset: (key) => redis.zrangeBuffer(key, '0', '-1'),
    stream: (key) => redis.xrangeBuffer(key, '-', '+'),
    // It has expired since it was listed.
    none: async () => '',
  }
  try {
    const texts: SearchedText[] = []
    for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
      const [next, keys] = await redis.scan(cursor, 'COUNT', 1000)
      cursor = next
      for (const key of keys) {
        const read = readers[await redis.type(key)]
        if (!read) throw new Error(`No reader for the type of ${key}`)
        texts.push({ name: `Redis ${key}`, text: `${key} ${textOf(await read(key))}` })
      }
    }
    return texts
  } finally {
    redis.disconnect()
  }
}

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${textOf(inner)}`)
    .join('\n')
}
