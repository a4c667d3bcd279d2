import { randomBytes } from 'node:crypto'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const megabyte = randomBytes(2 ** 20)

// A statement is described with its first execution. The answers to later ones have bytes as they are.
test.each([[Buffer.alloc(0)], [Buffer.from([0, 0x5c, 0xff])], [megabyte], [null]])(
  'bytes pass to Postgres and back unchanged, beside other types, however often: %.20s',
  async (bytes) => {
    for (let times = 0; times < 3; times++) {
      const [row] = await db.$client<
        { text: string; bytes: Buffer; none: null; after: string; size: number }[]
      >`
        SELECT ${'before'} AS text, ${bytes}::bytea AS bytes, ${null}::bytea AS none, ${'ä'} AS after,
          octet_length(${bytes}::bytea) AS size`
      expect(row?.bytes === null ? row.bytes : bytes?.equals(row?.bytes ?? Buffer.alloc(1))).toBe(
        bytes === null ? null : true,
      )
      expect(row).toMatchObject({ text: 'before', none: null, after: 'ä', size: bytes?.length ?? null })
    }
  },
)

test('bytes read with a cursor, as lists of values and in transactions are the same', async () => {
  const bytes = Buffer.from([0, 1, 2])
  const found: unknown[] = []
  for (let times = 0; times < 2; times++) {
    for await (const rows of db.$client<{ bytes: Buffer }[]>`SELECT ${bytes}::bytea AS bytes`.cursor())
      found.push(rows[0]?.bytes)
    found.push(...(await db.$client`SELECT ${bytes}::bytea AS bytes`.values()).flat())
    found.push(
      ...(await db.$client.begin((sql) => sql<{ bytes: Buffer }[]>`SELECT ${bytes}::bytea AS bytes`)).map(
        (row) => row.bytes,
      ),
    )
  }
  expect(found).toEqual(Array.from({ length: 6 }, () => bytes))
})

test('a statement whose columns change is described again', async () => {
  const sql = db.$client
  await sql`CREATE TABLE changing (value bytea)`
  await sql`INSERT INTO changing VALUES (${Buffer.from('a')})`
  const read = () => sql`SELECT * FROM changing WHERE ${1}::int = 1`
  for (let times = 0; times < 2; times++) expect(await read()).toEqual([{ value: Buffer.from('a') }])
  await sql`ALTER TABLE changing ADD COLUMN other text DEFAULT 'b'`
  for (let times = 0; times < 2; times++)
    expect(await read()).toEqual([{ value: Buffer.from('a'), other: 'b' }])
})
