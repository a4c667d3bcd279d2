import { z } from 'zod'
import type { ApiContext } from './context.ts'
import { AppError } from './errors/app-error.ts'
import { failureBody, failureObject } from './http/failure-body.ts'
import type { Answer, Exchange } from './http/request-context.ts'

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
  installation: z.string().describe('Whether the database is migrated and belongs to this installation'),
  redis: z.string(),
  shards: z.string().describe('Whether every sender has a live worker'),
})

export const ready: HealthCheck = {
  path: '/health/ready',
  summary: 'Whether sends are accepted, and what keeps accepted messages waiting',
  answers: {
    200: z.object({
      ok: z.literal(true),
      status: z.enum(['ready', 'degraded']).describe('degraded: accepted, but some messages wait'),
      degraded: z.array(z.string()).describe('Why messages wait'),
      checks,
    }),
    503: z.object({ ...failureObject.shape, code: z.literal('unavailable'), checks }),
  },
  answer: answerReady,
}

/** A load balancer follows it: what can be accepted must not be refused because it cannot be sent yet. */
async function answerReady({ readReadiness }: ApiContext, exchange: Exchange): Promise<Answer> {
  const { isReady, checks, degraded } = await readReadiness()
  if (isReady) {
    const status = degraded.length === 0 ? 'ready' : 'degraded'
    return { status: 200, body: { ok: true, status, degraded, checks } }
  }
  exchange.headers['Retry-After'] = '1'
  const failure = new AppError('unavailable', 'The gateway does not accept requests at the moment.')
  return { status: failure.status, body: { ...failureBody(failure, exchange.requestId), checks } }
}
