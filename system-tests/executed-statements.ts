import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestSystem } from '@wagate/test-kit/test-system'

/** Reads which statements the product executes, from the log of Postgres. */
export type ExecutedStatements = {
  /** Since the last call, with single spaces, in their order. */
  take(): string[]
}

const start = '<of>'
const executed = /duration: .* ms +(?:execute [^:]+|statement): (.*)/s

export async function logStatements({ database, devnet }: TestSystem): Promise<ExecutedStatements> {
  const sql = database.$client
  await sql`ALTER SYSTEM SET log_min_duration_statement = 0`.simple()
  await sql.unsafe(`ALTER SYSTEM SET log_line_prefix = '${start}%a</of>'`)
  await sql`SELECT pg_reload_conf()`
  const file = join(devnet.dataFolder, 'logs', 'postgres.log')
  let position = readFileSync(file, 'utf8').length
  return {
    take() {
      const text = readFileSync(file, 'utf8')
      const entries = text.slice(position).split(start)
      position = text.length
      return entries
        .filter((entry) => entry.startsWith('wagate-'))
        .flatMap((entry) => executed.exec(entry)?.[1]?.replace(/\s+/g, ' ').trim() ?? [])
    },
  }
}
