import type { Database } from '@wagate/db/client'
import {
  type ExpectedInstallation,
  findInstallationProblem,
} from '@wagate/db/queries/statements/installation'
import { countOrphanedShards } from '@wagate/db/queries/statements/readiness'
import type { DeviceEvents } from '@wagate/queue/device-events'
import { Deadline } from '../http/deadline.ts'

export type Readiness = {
  /** Whether sends are accepted: Postgres answers and contains the installation that this process expects. */
  isReady: boolean
  checks: { postgres: string; installation: string; redis: string; shards: string }
  /** Reasons why accepted messages may be delayed. */
  degraded: string[]
  /** Undefined while Postgres does not answer. */
  orphanedShards: number | undefined
}

const answerMsMax = 3000

/**
 * Checks everything that a send needs. Never rejects, and answers within 3 s. Concurrent callers share one check, because
 * anybody may call it without a key.
 */
export function makeReadinessCheck(
  { db, events }: { db: Database; events: Pick<DeviceEvents, 'checkRedis'> },
  expected: ExpectedInstallation,
): () => Promise<Readiness> {
  let checking: Promise<Readiness> | undefined

  async function check(): Promise<Readiness> {
    const deadline = new Deadline(answerMsMax)
    const [database, redis] = await Promise.all([
      deadline.run(() => readDatabase(db, expected)).catch(() => undefined),
      events.checkRedis(),
    ])
    deadline.end()
    const { installation, orphanedShards } = database ?? { installation: 'unknown' }
    return {
      isReady: installation === 'ok',
      checks: {
        postgres: database ? 'ok' : 'does not answer',
        installation,
        redis,
        shards: describeShards(orphanedShards),
      },
      degraded: describeDegraded(redis, orphanedShards),
      orphanedShards,
    }
  }

  return () => {
    checking ??= check().finally(() => {
      checking = undefined
    })
    return checking
  }
}

async function readDatabase(
  db: Database,
  expected: ExpectedInstallation,
): Promise<{ installation: string; orphanedShards?: number }> {
  const problem = await findInstallationProblem(db, expected)
  if (problem) return { installation: problem }
  return { installation: 'ok', orphanedShards: await countOrphanedShards(db) }
}

function describeShards(orphaned: number | undefined): string {
  if (orphaned === undefined) return 'unknown'
  return orphaned === 0 ? 'ok' : `${orphaned} without a live worker`
}

function describeDegraded(redis: string, orphaned = 0): string[] {
  return [
    ...(redis === 'ok'
      ? []
      : [`Redis ${redis}. Messages wait for the next poll of the workers, and no QR codes can be shown.`]),
    ...(orphaned === 0
      ? []
      : [
          `${orphaned} shards have no live worker. Messages of their senders wait until a worker claims these shards.`,
        ]),
  ]
}
