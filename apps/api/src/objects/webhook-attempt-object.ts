import type { WebhookAttempt } from '@wagate/db/queries/webhooks/webhook-deliveries'
import { z } from 'zod'

export const attemptObject = z
  .object({
    number: z.int().describe('Counts the attempts of the webhook'),
    delivery_id: z.string().describe('The `webhook-id` of the request, the same for every attempt'),
    event_ids: z.array(z.string()),
    attempt: z.int().describe('Counts the attempts of this request, from 1'),
    at: z.iso.datetime(),
    duration_ms: z.int(),
    status: z.int().nullable().describe('HTTP status of the answer; null without an answer'),
    error: z.string().nullable().describe('Why the attempt failed, if the status does not say it'),
    answer: z.string().nullable().describe('Beginning of the answer'),
  })
  .meta({ id: 'WebhookAttempt' })

type AttemptObject = z.infer<typeof attemptObject>

export const exampleAttempt: AttemptObject = {
  number: 120,
  delivery_id: 'evt_697dee5100000000a3f100000000004e697def40',
  event_ids: ['evt_697dee5100000000a3f100000000004e697def40'],
  attempt: 2,
  at: '2026-01-31T12:00:06.000Z',
  duration_ms: 84,
  status: 500,
  error: null,
  answer: 'Internal Server Error',
}

export function toAttemptObject(attempt: WebhookAttempt): AttemptObject {
  return {
    number: attempt.number,
    delivery_id: attempt.deliveryId,
    event_ids: attempt.eventIds,
    attempt: attempt.attempt,
    at: attempt.createdAt.toISOString(),
    duration_ms: attempt.durationMs,
    status: attempt.status,
    error: attempt.error,
    answer: attempt.answer,
  }
}
