import { appendFileSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Postgres, startPostgres } from '@wagate/local-servers/postgres'
import { until } from '../until.ts'

/** An asynchronous standby: commits do not wait for it. */
export type Standby = {
  server: Postgres
  /** What the primary does from then on is lost with it. */
  stopFollowing(): Promise<void>
  /** Ends its recovery. It keeps its address and its process. */
  promote(): Promise<void>
}

/** `folder`: a copy of the folder that the primary was started in, made while it was stopped. */
export async function startStandby(primaryUrl: string, folder: string, logFile: string): Promise<Standby> {
  const { port, username, password } = new URL(primaryUrl)
  const data = join(folder, 'data')
  writeFileSync(join(data, 'standby.signal'), '')
  chownSync(join(data, 'standby.signal'), statSync(data).uid, statSync(data).gid)
  const source = `host=127.0.0.1 port=${port} user=${username} password=${password}`
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  const server = await startPostgres({ folder, logFile, durable: true })
  await withDatabase(server.url, (db) =>
    until('the standby follows', async () => (await receiverOf(db)) === 'streaming'),
  )
  return {
    server,
    stopFollowing: () =>
      withDatabase(server.url, async (db) => {
        await db.$client`ALTER SYSTEM SET primary_conninfo = ''`
        await db.$client`SELECT pg_reload_conf()`
        await until('the standby is on its own', async () => (await receiverOf(db)) === undefined)
      }),
    promote: () =>
      withDatabase(server.url, async (db) => {
        await db.$client`SELECT pg_promote()`
      }),
  }
}

async function receiverOf({ $client }: Database): Promise<string | undefined> {
  const [row] = await $client<{ status: string }[]>`SELECT status FROM pg_stat_wal_receiver`
  return row?.status
}

async function withDatabase(url: string, work: (db: Database) => Promise<unknown>): Promise<void> {
  const db = openDatabase(url, { poolSize: 1, applicationName: 'standby', statementTimeoutMs: 60_000 })
  try {
    await work(db)
  } finally {
    await closeDatabase(db)
  }
}
