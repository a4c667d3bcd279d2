import { listWebhookAttempts } from '@wagate/db/queries/webhooks/webhook-deliveries'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { attemptObject, exampleAttempt, toAttemptObject } from '../objects/webhook-attempt-object.ts'
import { flag, integer } from '../parameters/parameter-types.ts'
import { getWebhook, webhookId } from '../webhooks/get-webhook.ts'

const attemptsMax = 200

export const webhookDeliveries = defineOperation({
  name: 'webhook-deliveries',
  summary: 'Return the latest requests of a webhook and what its target answered, newest first',
  methods: ['GET'],
  changes: false,
  parameters: z.object({
    webhook_id: webhookId,
    failed: flag.optional().describe('true: only attempts that failed'),
    limit: integer(1, attemptsMax).optional().describe('Page size, 50 by default'),
    before: integer(1, 2 ** 31 - 1)
      .optional()
      .describe('`number` of the last attempt of the previous page'),
  }),
  fields: z.object({
    deliveries: z
      .array(attemptObject)
      .describe('All failures, and at most one success a second; the last 1,000 of a webhook'),
    has_more: z.boolean(),
  }),
  errors: ['webhook_not_found'],
  example: {
    given: { webhook_id: 5, failed: true },
    answer: { deliveries: [exampleAttempt], has_more: false },
  },
  async handle({ webhook_id, failed = false, limit = 50, before }, call) {
    await getWebhook(call, webhook_id)
    const page = { before, limit: limit + 1, onlyFailed: failed }
    const found = await listWebhookAttempts(call.context.db, call.principal.accountId, webhook_id, page)
    return { deliveries: found.slice(0, limit).map(toAttemptObject), has_more: found.length > limit }
  },
})
