import type { Database } from '@wagate/db/client'
import { type ExpectedInstallation, findInstallationProblem } from '@wagate/db/queries/installation'
import { countOrphanedShards } from '@wagate/db/queries/readiness'
import type { DeviceEvents } from '@wagate/queue/device-events'
import { Deadline } from './http/deadline.ts'

export type Readiness = {
  /** Whether sends are accepted: Postgres answers and holds an installation that fits this process. */
  isReady: boolean
  checks: { postgres: string; installation: string; redis: string; shards: string }
  /** Why accepted messages may wait. Empty when nothing is wrong. */
  degraded: string[]
  /** Undefined while Postgres does not answer. */
  orphanedShards: number | undefined
}

const answerMsMax = 3000

/**
 * Looks at everything that a send needs. Never rejects, and answers within 3 s. Anybody may ask: those who ask while it
 * looks share the answer.
 */
export function makeReadinessCheck(
  { db, events }: { db: Database; events: Pick<DeviceEvents, 'checkRedis'> },
  expected: ExpectedInstallation,
): () => Promise<Readiness> {
  let looking: Promise<Readiness> | undefined

  async function look(): Promise<Readiness> {
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
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
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
      : [`Redis ${redis}. Messages wait for the workers' next poll, and QR codes are not shown.`]),
    ...(orphaned === 0
      ? []
      : [
          `${orphaned} shards have no live worker. Messages of their senders wait until a worker takes them.`,
        ]),
  ]
}
