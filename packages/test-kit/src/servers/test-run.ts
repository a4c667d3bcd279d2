import { randomBytes } from 'node:crypto'
import postgres from 'postgres'

/** Once per run, before the first test. */
export async function openTestRun(): Promise<void> {
  process.env.TEST_RUN_ID = randomBytes(4).toString('hex')
  await asAdmin(async (sql) => {
    await sql.unsafe(`CREATE SEQUENCE ${runName()}_databases`)
    await sql.unsafe(`CREATE SEQUENCE ${runName()}_redis_databases`)
  })
}

/** Only needed on a server that outlives the run. */
export async function closeTestRun(): Promise<void> {
  await asAdmin(async (sql) => {
    const templates = await sql<{ name: string }[]>`
      SELECT datname AS name FROM pg_database WHERE starts_with(datname, ${runName()})`
    for (const { name } of templates) await sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    await sql.unsafe(`DROP SEQUENCE IF EXISTS ${runName()}_databases, ${runName()}_redis_databases`)
  })
}

export async function nextNumber(sql: postgres.Sql, kind: 'databases' | 'redis_databases'): Promise<number> {
  const [row] = await sql<{ number: number }[]>`SELECT nextval(${`${runName()}_${kind}`})::int AS number`
  return row?.number ?? 0
}

export async function asAdmin<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = connectTo(serverUrl('TEST_DATABASE_URL'))
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

export function connectTo(url: string): postgres.Sql {
  return postgres(url, { max: 1, onnotice: () => undefined })
}

export function urlOf(database: string): string {
  const url = new URL(serverUrl('TEST_DATABASE_URL'))
  url.pathname = `/${database}`
  return url.href
}

export function serverUrl(name: 'TEST_DATABASE_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[name]
  if (!url) throw new Error(`${name} is not set: run the tests with "npm test", which starts the servers.`)
  return url
}

/** The prefix of everything that this run creates on servers that other runs may use. */
export function runName(): string {
  return `wagate_test_run_${process.env.TEST_RUN_ID}`
}
