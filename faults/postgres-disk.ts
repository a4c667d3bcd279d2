import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRunAs } from '@wagate/local-servers/run-as'
import { connectTo } from '@wagate/test-kit/servers/test-run'
import { until } from '@wagate/test-kit/until'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

type PostgresDisk = Pick<SmallDisk, 'fill' | 'free'> & { moveBack(): Promise<void> }

const roomBytes = 32 * 2 ** 20

/**
 * Puts all tables and indexes on a disk of their own, or says why not. Postgres' log stays where it is: without
 * space for that it does not refuse, it ends, which is another fault.
 */
export async function moveToSmallDisk(databaseUrl: string): Promise<PostgresDisk | string> {
  const sql = connectTo(databaseUrl)
  const [size] = await sql<{ bytes: number }[]>`
    SELECT pg_database_size(current_database())::float8 AS bytes`
  const folder = mkdtempSync(join(tmpdir(), 'wagate-small-disk-'))
  const disk = mountSmallDisk(folder, (size?.bytes ?? 0) + roomBytes, findRunAs())
  if (typeof disk === 'string') return disk

  async function move(from: string, to: string): Promise<void> {
    for (const kind of ['TABLE', 'INDEX'])
      await withoutDeadlock(() => sql.unsafe(`ALTER ${kind} ALL IN TABLESPACE ${from} SET TABLESPACE ${to}`))
  }

  await sql.unsafe(`CREATE TABLESPACE small_disk LOCATION '${folder}'`)
  await move('pg_default', 'small_disk')
  return {
    fill: disk.fill,
    free: disk.free,
    async moveBack() {
      await move('small_disk', 'pg_default')
      // Files of what was moved are removed at the next checkpoint.
      await sql`CHECKPOINT`
      await sql`DROP TABLESPACE small_disk`
      await sql.end()
      disk.unmount()
      rmSync(folder, { recursive: true })
    },
  }
}

/** All tables are locked, one after the other, while others work with them. */
async function withoutDeadlock(work: () => Promise<unknown>): Promise<void> {
  await until('all tables are moved', { withinMs: 60_000, everyMs: 200 }, () =>
    work().then(
      () => true,
      (error: { code?: string }) => {
        if (error.code !== '40P01') throw error
        return false
      },
    ),
  )
}
