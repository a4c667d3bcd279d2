import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerSupervisor } from '@wagate/local-servers/server-supervisor'
import { vendorFolder } from '@wagate/local-servers/vendor-folder'
import { closeTestRun, openTestRun } from './test-run.ts'

/**
 * Throw-away Postgres and Redis for one run of the tests. TEST_DATABASE_URL (of an account that may create
 * databases) and TEST_REDIS_URL (whose databases are emptied) name servers to use instead.
 */
export async function setup(): Promise<() => Promise<void>> {
  const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
  // Postgres may run under another account.
  chmodSync(folder, 0o711)
  const supervisor = await startServerSupervisor(
    {
      folder,
      logFolder: join(folder, 'logs'),
      vendorFolder,
      postgres: !TEST_DATABASE_URL,
      redis: !TEST_REDIS_URL,
      durable: false,
    },
    { onProgress: (text) => console.error(text) },
  )
  process.env.TEST_RUN_FOLDER = folder
  process.env.TEST_DATABASE_URL ??= supervisor.postgres?.url ?? ''
  process.env.TEST_REDIS_URL ??= supervisor.redis?.url ?? ''
  await openTestRun()
  return async () => {
    if (TEST_DATABASE_URL) await closeTestRun()
    await supervisor.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
