import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { type Columns, numberedRows, rows } from '../src/queries/statements/rows.ts'

type Item = { id: number; note: string | null }

const columns: Columns<Item> = { id: ['bigint', ({ id }) => id], note: ['text', ({ note }) => note] }
let server: TestDatabase
let db: Database
let sql: Database['$client']

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 4000 })
  sql = db.$client
})
afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})

const read = (items: Item[]) =>
  sql<Item[]>`SELECT id::int AS id, note FROM ${rows(sql, 'given', items, columns)} ORDER BY given.id`

test('items become rows, and a missing value becomes a null', async () => {
  const items = [
    { id: 1, note: 'a' },
    { id: 2, note: null },
  ]
  expect(await read(items)).toEqual(items)
  expect(await read([{ id: 3, note: null }])).toEqual([{ id: 3, note: null }])
  expect(await read([])).toEqual([])
})

test('numbered rows have their place in the list', async () => {
  const items = [7, 5, 6].map((id) => ({ id, note: null }))
  const numbered = await sql`
    SELECT id::int AS id, position::int AS position FROM ${numberedRows(sql, 'given', items, columns)} ORDER BY id`
  expect(numbered.map(({ id, position }) => [id, position])).toEqual([
    [5, 2],
    [6, 3],
    [7, 1],
  ])
})

test('one prepared statement serves any number of items', async () => {
  for (const count of [0, 1, 2, 100]) {
    await read(Array.from({ length: count }, (_, id) => ({ id, note: count === 2 ? null : 'x' })))
  }
  const [prepared] = await sql`
    SELECT count(*)::int AS count FROM pg_prepared_statements WHERE statement LIKE 'SELECT id::int AS id, note%'`
  expect(prepared).toEqual({ count: 1 })
})
