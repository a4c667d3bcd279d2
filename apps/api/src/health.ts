import { countOrphanedShards } from '@wagate/db/queries/readiness'
import { AppError } from '@wagate/shared/app-error'
import { z } from 'zod'
import type { ApiContext } from './context.ts'
import { Deadline } from './http/deadline.ts'
import type { Answer, Exchange } from './http/exchange.ts'
import { failureBody, failureObject } from './http/failure-body.ts'

/** What answers without a key, on its path alone, to GET and HEAD. */
export type HealthCheck = {
  path: string
  summary: string
  answers: Record<number, z.ZodObject>
  answer(context: ApiContext, exchange: Exchange): Promise<Answer>
}

export const live: HealthCheck = {
  path: '/health/live',
  summary: 'Whether the process answers',
  answers: { 200: z.object({ ok: z.literal(true) }) },
  answer: async () => ({ status: 200, body: { ok: true } }),
}

const checks = z.object({
  postgres: z.string(),
  redis: z.string(),
  shards: z.string().describe('Whether every sender has a live worker'),
})

export const ready: HealthCheck = {
  path: '/health/ready',
  summary: 'Whether a send would be sent; what is not ok is named',
  answers: {
    200: z.object({ ok: z.literal(true), checks }),
    503: z.object({ ...failureObject.shape, code: z.literal('unavailable'), checks }),
  },
  answer: checkReadiness,
}

const answerMsMax = 3000

/** Ready means that a send would be sent: Postgres, Redis, and a live owner for every shard. */
async function checkReadiness({ db, events }: ApiContext, { requestId }: Exchange): Promise<Answer> {
  const deadline = new Deadline(answerMsMax)
  const [orphaned, redis] = await Promise.all([
    deadline.run(() => countOrphanedShards(db)).catch(() => undefined),
    events.checkRedis(),
  ])
  deadline.end()
  const checks = {
    postgres: orphaned === undefined ? 'does not answer' : 'ok',
    redis,
    shards: orphaned === 0 ? 'ok' : describeShards(orphaned),
  }
  if (Object.values(checks).every((check) => check === 'ok'))
    return { status: 200, body: { ok: true, checks } }
  const failure = new AppError('unavailable', 'The gateway is not ready.')
  return { status: failure.status, body: { ...failureBody(failure, requestId), checks } }
}

function describeShards(orphaned: number | undefined): string {
  return orphaned === undefined ? 'unknown' : `${orphaned} without a live worker`
}
