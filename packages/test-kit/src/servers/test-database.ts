import { randomBytes } from 'node:crypto'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { migrate } from '@wagate/db/migrate'
import { listPartitions } from '@wagate/db/queries/statements/partitions'
import { askRedis } from '@wagate/local-servers/ask-redis'
import type postgres from 'postgres'
import { asAdmin, connectTo, nextNumber, runName, testServers } from './test-run.ts'

export type TestDatabase = { url: string; drop(): Promise<void> }

const advisoryLock = 7_261_001
const redisDatabases = 255

type Contents = {
  shards?: number
  /** With a partition for each week, as migrated: for tests of partitions and of plans. Otherwise one holds all weeks to come. */
  isWeekly?: boolean
}

/** A new, migrated and empty database, copied from a template that the first caller of a run makes. */
export async function createTestDatabase({
  shards = 256,
  isWeekly = false,
}: Contents = {}): Promise<TestDatabase> {
  const name = makeName()
  const number = await asAdmin(async (sql) => {
    const template = await ensureTemplate(sql, { shards, isWeekly })
    // Through the log of Postgres it takes twice as long.
    await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
    return nextNumber(sql, 'databases')
  })
  await spreadIdentities(await urlOf(name), number)
  return describe(name)
}

/** For a test that migrates it. */
export async function createEmptyTestDatabase(): Promise<TestDatabase> {
  const name = makeName()
  await asAdmin((sql) => sql.unsafe(`CREATE DATABASE ${name}`))
  return describe(name)
}

async function urlOf(database: string): Promise<string> {
  const url = new URL((await testServers()).databaseUrl)
  url.pathname = `/${database}`
  return url.href
}

function makeName(): string {
  return `wagate_test_${randomBytes(8).toString('hex')}`
}

async function describe(name: string): Promise<TestDatabase> {
  return {
    url: await urlOf(name),
    async drop() {
      await asAdmin((sql) => sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

/**
 * An empty Redis database: there are 255, handed out in turn. Pub/sub channels of Redis span all databases. Their
 * messages carry ids, which two test databases never share.
 */
export async function testRedisUrl(): Promise<string> {
  const number = await asAdmin((sql) => nextNumber(sql, 'redis_databases'))
  const database = String((number % redisDatabases) + 1)
  const url = new URL((await testServers()).redisUrl)
  const answers = await askRedis(url, [['SELECT', database], ['FLUSHDB']])
  if (answers.some((answer) => answer !== '+OK'))
    throw new Error(`TEST_REDIS_URL must be a Redis with "databases 256": ${answers.join(', ')}`)
  url.pathname = `/${database}`
  return url.href
}

/** Made on first use, so that tests without a database need no working migration. */
async function ensureTemplate(sql: postgres.Sql, { shards, isWeekly }: Required<Contents>): Promise<string> {
  await sql`SELECT pg_advisory_lock(${advisoryLock})`
  const template = `${runName()}_${shards}${isWeekly ? '_weekly' : ''}`
  const [found] = await sql`SELECT 1 FROM pg_database WHERE datname = ${template}`
  if (!found) {
    const unfinished = `${template}_new`
    await sql.unsafe(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await sql.unsafe(`CREATE DATABASE ${unfinished}`)
    await migrate(await urlOf(unfinished), { shards })
    if (!isWeekly) await joinFutureWeeks(await urlOf(unfinished))
    await sql.unsafe(`ALTER DATABASE ${unfinished} RENAME TO ${template}`)
  }
  await sql`SELECT pg_advisory_unlock(${advisoryLock})`
  return template
}

/** Each connection plans its statements for every partition, which is most of what Postgres does in tests. */
async function joinFutureWeeks(url: string): Promise<void> {
  const db = openDatabase(url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 30_000 })
  const sql = db.$client
  const partitions = await listPartitions(sql)
  for (const table of ['messages', 'events']) {
    const [next, ...later] = partitions
      .filter((one) => one.table === table && one.startsAtMs > Date.now())
      .sort((one, other) => one.startsAtMs - other.startsAtMs)
    if (!next) throw new Error(`There is no partition of ${table} for weeks to come.`)
    const [from, to] = [next.startsAtMs, (later.at(-1) ?? next).endsAtMs].map((ms) =>
      new Date(ms).toISOString(),
    )
    await sql.unsafe(`ALTER TABLE ${table} DETACH PARTITION ${next.name}`)
    await sql.unsafe(`DROP TABLE ${later.map(({ name }) => name).join(', ')}`)
    await sql.unsafe(
      `ALTER TABLE ${table} ATTACH PARTITION ${next.name} FOR VALUES FROM ('${from}') TO ('${to}')`,
    )
  }
  await closeDatabase(db)
}

/** Starts every generated id of the database at a number that no other test database reaches. */
async function spreadIdentities(url: string, number: number): Promise<void> {
  const sql = connectTo(url)
  await sql.unsafe(`DO $$ DECLARE s regclass; BEGIN
    FOR s IN SELECT oid FROM pg_class WHERE relkind = 'S' LOOP
      EXECUTE format('ALTER SEQUENCE %s RESTART WITH %s', s, ${number * 100_000 + 1});
    END LOOP;
  END $$`)
  await sql.end()
}
