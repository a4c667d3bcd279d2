import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerSupervisor, startServerSupervisor } from '@wagate/local-servers/server-supervisor'
import { vendorFolder } from '@wagate/local-servers/vendor-folder'
import { bundledApps } from './test-bundle.ts'
import { announceServers, closeTestRun, openTestRun } from './test-run.ts'

/** A new database is 600 small files. Writing them takes up to twenty times as much CPU time on a disk. */
const memory = '/dev/shm'
const freeBytesMin = 2 * 2 ** 30

/** Containers often have 64 MiB of it. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > freeBytesMin
}

/**
 * Throw-away Postgres and Redis for one run of the tests, which start while the tests of single files load. TEST_DATABASE_URL (of an
 * account that may create databases) and TEST_REDIS_URL (whose databases are emptied) name servers to use instead.
 */
export async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(hasRoom(memory) ? memory : tmpdir(), 'wagate-test-'))
  // Postgres may run under another account.
  chmodSync(folder, 0o711)
  process.env.TEST_RUN_FOLDER = folder
  process.env.TEST_RUN_ID = randomBytes(4).toString('hex')
  const starting = startServers(folder)
  // Whoever asks for the servers is told.
  starting.catch((error: Error) => announceServers(folder, { failure: error.message }))
  // The first files of a whole run would wait for both in their hooks, whose time is limited. They tell what has failed.
  if (isWholeRun()) await Promise.allSettled([starting, bundledApps()])
  return async () => {
    const supervisor = await starting
    if (process.env.TEST_DATABASE_URL) await closeTestRun()
    await supervisor?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Files are named without a dash. */
const isWholeRun = () => process.argv.slice(3).every((argument) => argument.startsWith('-'))

async function startServers(folder: string): Promise<ServerSupervisor | undefined> {
  const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env
  const options = {
    folder,
    logFolder: join(folder, 'logs'),
    vendorFolder,
    postgres: !TEST_DATABASE_URL,
    redis: !TEST_REDIS_URL,
    durable: false,
  }
  const isNeeded = options.postgres || options.redis
  const supervisor = isNeeded
    ? await startServerSupervisor(options, { onProgress: (text) => console.error(text) })
    : undefined
  const databaseUrl = TEST_DATABASE_URL ?? supervisor?.postgres?.url ?? ''
  const redisUrl = TEST_REDIS_URL ?? supervisor?.redis?.url ?? ''
  await openTestRun(databaseUrl)
  announceServers(folder, { databaseUrl, redisUrl })
  return supervisor
}
