import { countOrphanedShards } from '@wagate/db/queries/readiness'
import type { ApiContext } from './context.ts'
import { makeDeadline } from './http/deadline.ts'
import type { Answer } from './http/exchange.ts'

const answerMsMax = 3000

/** Ready means that a send would be sent: Postgres, Redis, and a live owner for every shard. */
export async function checkReadiness({ db, events }: ApiContext): Promise<Answer> {
  const deadline = makeDeadline(answerMsMax)
  const [orphaned, isRedisUp] = await Promise.all([
    deadline.run(() => countOrphanedShards(db)).catch(() => undefined),
    events.isRedisUp(),
  ])
  const checks = {
    postgres: orphaned === undefined ? 'does not answer' : 'ok',
    redis: isRedisUp ? 'ok' : 'does not answer',
    shards: orphaned === 0 ? 'ok' : describeShards(orphaned),
  }
  if (Object.values(checks).every((check) => check === 'ok'))
    return { status: 200, body: { ok: true, checks } }
  return {
    status: 503,
    body: { ok: false, error: 'The gateway is not ready.', code: 'unavailable', checks },
  }
}

function describeShards(orphaned: number | undefined): string {
  return orphaned === undefined ? 'unknown' : `${orphaned} without a live worker`
}
