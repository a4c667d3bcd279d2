import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@wagate/db/migrate'
import { startServerSupervisor } from '@wagate/local-servers/server-supervisor'

type Postgres = {
  url: string
  /** Of the parent process of Postgres. */
  pid: number
}

/** Runs the work with a Postgres that is set up for this number of shards, and deletes its data afterwards. */
export async function withThrowAwayPostgres<T>(
  { shards, signal }: { shards: number; signal: AbortSignal },
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-bench-'))
  // Root's Postgres runs under another account, which must be able to pass: its data would be put, and stay, elsewhere.
  chmodSync(folder, 0o711)
  const settings = { folder, logFolder: join(folder, 'logs'), vendorFolder: folder, durable: false }
  try {
    const supervisor = await startServerSupervisor({ ...settings, postgres: true, redis: false }, {}, signal)
    try {
      const url = supervisor.postgres?.url ?? ''
      await migrate(url, { shards, network: 'simulator' })
      return await work({ url, pid: supervisor.pid })
    } finally {
      await supervisor.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
