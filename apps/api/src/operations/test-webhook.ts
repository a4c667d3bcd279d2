import { findWebhookAttempt, insertTestEvent } from '@wagate/db/queries/webhooks/webhook-deliveries'
import { formatEventId } from '@wagate/shared/event-ids'
import { extensibleEnum } from '@wagate/shared/objects/extensible-enum'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { AppError } from '../errors/app-error.ts'
import { pollUntil } from '../events/poll-until.ts'
import { webhookFields } from '../objects/webhook-object.ts'
import { getWebhook, webhookId, webhookNotFound } from '../webhooks/get-webhook.ts'

const waitMs = 16_000

export const testWebhook = defineOperation({
  name: 'test-webhook',
  summary: 'Send an event of the type webhook.test to one webhook and return what its target answers',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ webhook_id: webhookId }),
  fields: z.object({
    webhook_id: webhookFields.webhook_id,
    event_id: z.string().describe('ID of the test event, and `webhook-id` of the request'),
    result: extensibleEnum(['delivered', 'failed', 'pending']).describe(
      '`failed`: it will be repeated. `pending`: no answer within 16 s',
    ),
    status: z.int().nullable().describe('HTTP status of the answer; null without an answer'),
    duration_ms: z.int().nullable(),
    error: z.string().nullable().describe('Why the attempt failed, if the status does not say it'),
  }),
  errors: ['webhook_not_found', 'webhook_disabled'],
  example: {
    given: { webhook_id: 5 },
    answer: {
      webhook_id: 5,
      event_id: 'evt_697dee5100000000a3f100000000004e697def40',
      result: 'delivered',
      status: 204,
      duration_ms: 84,
      error: null,
    },
  },
  async handle({ webhook_id }, call) {
    const { context, principal, deadline } = call
    const { accountId } = principal
    await call.charge({ limit: 'webhookTests', key: String(accountId) })
    if ((await getWebhook(call, webhook_id)).disabledAt) {
      throw new AppError('webhook_disabled', 'The webhook is disabled. Enable it with set-webhook.')
    }
    const position = await context.db.transaction(async (tx) => {
      const inserted = await insertTestEvent(tx, accountId, webhook_id)
      if (!inserted) throw webhookNotFound()
      await audit(tx, call, { target: `webhook:${webhook_id}`, result: 'tested' })
      return inserted
    })
    const event_id = formatEventId(position)
    deadline.extend(waitMs)
    const { inbox, leave } = context.events.feed.wakes.join(accountId)
    context.notify.publishWebhookHint(webhook_id)
    const attempt = await pollUntil(() => findWebhookAttempt(context.db, accountId, webhook_id, event_id), {
      inbox,
      forMs: waitMs,
      abort: AbortSignal.any([context.closing, deadline.signal, call.request.findDisconnect()]),
    }).finally(leave)
    const isTaken = attempt?.status != null && attempt.status >= 200 && attempt.status < 300
    return {
      webhook_id,
      event_id,
      result: attempt ? (isTaken ? 'delivered' : 'failed') : 'pending',
      status: attempt?.status ?? null,
      duration_ms: attempt?.durationMs ?? null,
      error: attempt?.error ?? null,
    }
  },
})
