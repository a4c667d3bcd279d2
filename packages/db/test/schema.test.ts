import { readFileSync } from 'node:fs'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { generateDrizzleJson } from 'drizzle-kit/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { schema } from '../src/schema.ts'

type Column = { name: string; type: string; notNull: boolean }
type Index = { name: string; isUnique: boolean; columns: { expression: string }[] }
type Table = { name: string; columns: Record<string, Column>; indexes: Record<string, Index> }

const tables: Record<string, Table> = generateDrizzleJson(schema).tables
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 5000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

test('the latest snapshot of the migrations matches the schema', () => {
  const last = read('_journal.json').entries.at(-1).tag.slice(0, 4)
  expect(read(`${last}_snapshot.json`).tables).toEqual(JSON.parse(JSON.stringify(tables)))
})

test('drizzle-kit gives the next migration the next number', () => {
  const entries: { idx: number; tag: string }[] = read('_journal.json').entries
  expect(entries.filter(({ idx, tag }) => idx !== Number(tag.slice(0, 4)))).toEqual([])
})

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../migrations/meta/${name}`, import.meta.url), 'utf8'))

test.each(Object.values(tables))('the migrations create $name as in the schema', async (table) => {
  const columns = await db.$client<Column[]>`
    SELECT attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS "notNull"
    FROM pg_attribute WHERE attrelid = ${table.name}::regclass AND attnum > 0 AND NOT attisdropped`
  const wanted = Object.values(table.columns).map(({ name, type, notNull }) => ({ name, type, notNull }))
  expect(byName(columns)).toEqual(byName(wanted))

  const indexes = await db.$client<{ name: string; isUnique: boolean; columns: string[] }[]>`
    SELECT relname AS name, indisunique AS "isUnique",
      ARRAY(SELECT pg_get_indexdef(indexrelid, n, true) FROM generate_series(1, indnkeyatts) AS n) AS columns
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = ${table.name}::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`
  const wantedIndexes = Object.values(table.indexes).map(({ name, isUnique, columns }) => ({
    name,
    isUnique,
    columns: columns.map(({ expression }) => expression),
  }))
  expect(byName(indexes)).toEqual(byName(wantedIndexes))
})

function byName<Named extends { name: string }>(items: Iterable<Named>): Named[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1))
}
