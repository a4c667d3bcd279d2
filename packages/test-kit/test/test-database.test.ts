import postgres from 'postgres'
import { expect, test } from 'vitest'
import { createTestDatabase, testRedisUrl } from '../src/servers/test-database.ts'

test('gives every caller a migrated database whose ids no other one shares', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()])
  const [first, second] = await Promise.all([nextIds(one.url), nextIds(two.url)])
  expect(first.length).toBeGreaterThan(0)
  for (const id of first) expect(second).not.toContain(id)
  await Promise.all([one.drop(), two.drop()])
})

test('gives every caller another Redis database', async () => {
  expect(await testRedisUrl()).not.toBe(await testRedisUrl())
})

async function nextIds(url: string): Promise<string[]> {
  const sql = postgres(url, { max: 1 })
  const rows = await sql<
    { id: string }[]
  >`SELECT nextval(oid::regclass)::text AS id FROM pg_class WHERE relkind = 'S'`
  await sql.end()
  return rows.map((row) => row.id)
}
