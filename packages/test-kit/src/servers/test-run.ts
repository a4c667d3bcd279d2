import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { until } from '../until.ts'

export type TestServers = { databaseUrl: string; redisUrl: string }

const startMs = { withinMs: 120_000, everyMs: 20 }
const fileOf = (folder: string) => join(folder, 'servers.json')

/** Tells the processes of the run where its servers are, or why there are none. */
export function announceServers(folder: string, servers: TestServers | { failure: string }): void {
  const unfinished = `${fileOf(folder)}.new`
  writeFileSync(unfinished, JSON.stringify(servers), { mode: 0o600 })
  renameSync(unfinished, fileOf(folder))
}

let found: Promise<TestServers> | undefined
let ports: number[] = []

/** Of the servers that this process has asked for. */
export function serverPorts(): number[] {
  return ports
}

/** The servers of this run, as soon as they have started. */
export function testServers(): Promise<TestServers> {
  found ??= findServers()
  return found
}

async function findServers(): Promise<TestServers> {
  const { TEST_RUN_FOLDER: folder } = process.env
  if (!folder) throw new Error('There are no servers: run the tests with "npm test", which starts them.')
  const file = await until('the servers of the tests have started', startMs, () => {
    return existsSync(fileOf(folder)) && readFileSync(fileOf(folder), 'utf8')
  })
  const servers: TestServers | { failure: string } = JSON.parse(file)
  if ('failure' in servers) throw new Error(`The servers of the tests did not start: ${servers.failure}`)
  ports = [servers.databaseUrl, servers.redisUrl].map((url) => Number(new URL(url).port))
  return servers
}

/** Once per run, before the first test that needs a server. */
export async function openTestRun(databaseUrl: string): Promise<void> {
  const sql = connectTo(databaseUrl)
  await sql.unsafe(`CREATE SEQUENCE ${runName()}_databases`)
  await sql.unsafe(`CREATE SEQUENCE ${runName()}_redis_databases`)
  await sql.end()
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
  const { databaseUrl } = await testServers()
  const sql = connectTo(databaseUrl)
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

export function connectTo(url: string): postgres.Sql {
  // Its own types are those that its statements use, and asking for others takes as long as connecting.
  return postgres(url, { max: 1, onnotice: () => undefined, fetch_types: false })
}

/** The prefix of everything that this run creates on servers that other runs may use. */
export function runName(): string {
  return `wagate_test_run_${process.env.TEST_RUN_ID}`
}
