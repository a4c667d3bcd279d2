import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { it } from 'vitest'
import { expectPostgresBack, expectRefusals } from './recovery.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** Postgres answers, and stores nothing, or not yet. */
export function postgresWriteFaults(find: () => World): void {
  // Fails when an error that is not known is taken for one of the content.
  it.skipIf(isShort)('29: Postgres takes no writes for 60 s', async () => {
    const { databaseUrl } = find().devnet
    const found = await trial(find(), '29 Postgres read-only', async () => {
      await setServer(databaseUrl, 'default_transaction_read_only', 'on')
      await delay(60_000)
      await setServer(databaseUrl, 'default_transaction_read_only', 'off')
    })
    expectRefusals(found, 'unavailable')
    // Leases have ended meanwhile: senders log in again, and pauses have grown to 5 s.
    expectPostgresBack(find(), found, 10_000)
  })

  // Fails when a statement is repeated beside its first attempt.
  it.skipIf(isShort)('30: commits wait 10 s for a replica that is away', async () => {
    const { databaseUrl } = find().devnet
    const found = await trial(find(), '30 replica away', async () => {
      await setServer(databaseUrl, 'synchronous_standby_names', 'away')
      await delay(10_000)
      await setServer(databaseUrl, 'synchronous_standby_names', '')
    })
    expectRefusals(found, 'unavailable')
    expectPostgresBack(find(), found)
  })
}

/** From now on, in all sessions. */
async function setServer(databaseUrl: string, name: string, value: string): Promise<void> {
  const db = openDatabase(databaseUrl, { poolSize: 1, applicationName: 'fault', statementTimeoutMs: 5000 })
  try {
    await db.$client.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)
    await db.$client`SELECT pg_reload_conf()`
  } finally {
    await closeDatabase(db)
  }
}
