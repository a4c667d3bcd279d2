import { z } from 'zod'
import { AppError } from '../errors/app-error.ts'
import { failureBody, failureObject } from '../http/failure-body.ts'
import type { HttpAnswer } from '../http/http-answer.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Readiness } from './readiness.ts'

type ReadReadiness = () => Promise<Readiness>

/** Answers GET and HEAD without an API key, only on its own path. */
export type HealthCheck = {
  path: string
  summary: string
  answers: Record<number, z.ZodObject>
  answer(context: { readReadiness: ReadReadiness }, request: RequestContext): Promise<HttpAnswer>
}

export const live: HealthCheck = {
  path: '/health/live',
  summary: 'Check that the process responds',
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
  summary: 'Check whether sends are accepted and what delays accepted messages',
  answers: {
    200: z.object({
      ok: z.literal(true),
      status: z
        .enum(['ready', 'degraded'])
        .describe('`degraded`: messages are accepted, but some are delayed'),
      degraded: z.array(z.string()).describe('Reasons why messages are delayed'),
      checks,
    }),
    503: z.object({ ...failureObject.shape, code: z.literal('unavailable'), checks }),
  },
  answer: answerReady,
}

/** Ready while messages can be accepted, even if they cannot be sent yet: load balancers stop traffic otherwise. */
async function answerReady(
  { readReadiness }: { readReadiness: ReadReadiness },
  request: RequestContext,
): Promise<HttpAnswer> {
  const { isReady, checks, degraded } = await readReadiness()
  if (isReady) {
    const status = degraded.length === 0 ? 'ready' : 'degraded'
    return { status: 200, body: { ok: true, status, degraded, checks } }
  }
  request.responseHeaders['Retry-After'] = '1'
  const failure = new AppError('unavailable', 'The gateway is temporarily not accepting requests.')
  return { status: failure.status, body: { ...failureBody(failure, request.requestId), checks } }
}
