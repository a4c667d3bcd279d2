import { closeDatabase, openDatabase } from '@wagate/db/client'
import { readEnv } from '@wagate/runtime/env'
import { startInternalServer } from '@wagate/runtime/internal-server'
import { makeLogger } from '@wagate/runtime/logger'
import { untilAborted } from '@wagate/runtime/until-aborted'
import { pickSettings } from '@wagate/shared/settings'
import { startHousekeeping } from './housekeeping.ts'

const shape = pickSettings(
  'DATABASE_URL',
  'LOG_LEVEL',
  'METRICS_HOST',
  'METRICS_PORT',
  'RETENTION_DAYS',
  'EVENT_RETENTION_DAYS',
  'EDIT_SECRET_DAYS',
)

/** The process of `wagate housekeeping`, until the signal. Returns its exit code. */
export async function runHousekeeping(
  env: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<number> {
  const config = readEnv(shape, env)
  const logger = makeLogger('housekeeping', config.LOG_LEVEL)
  const db = openDatabase(config.DATABASE_URL, {
    poolSize: 1,
    applicationName: 'wagate-cli',
    statementTimeoutMs: 30_000,
  })
  const housekeeping = startHousekeeping(db, logger, {
    retentionDays: config.RETENTION_DAYS,
    eventRetentionDays: config.EVENT_RETENTION_DAYS,
    editSecretDays: config.EDIT_SECRET_DAYS,
    isDoneHere: true,
  })
  const health = await startInternalServer(
    { host: config.METRICS_HOST, port: config.METRICS_PORT },
    {
      '/health/live': () => ({ status: 200, body: { ok: true } }),
      '/health/ready': () => {
        const ok = housekeeping.isUpToDate()
        return { status: ok ? 200 : 503, body: { ok } }
      },
    },
  )
  logger.info({ healthPort: health.port }, 'Housekeeping started')
  await untilAborted(signal)
  await housekeeping.close()
  await Promise.all([health.close(), closeDatabase(db)])
  return 0
}
